import type { Logger } from '../logging/logger.ts'
import { describeThrown, quietly } from '../util/quietly.ts'

/** Wraps a caller's callback so that it cannot break the answer: its first error or rejection is logged. */
export function harmless<Value>(
  listener: ((value: Value) => unknown) | undefined,
  logger: Logger,
): (value: Value) => void {
  let hasFailed = false
  const report = (error: unknown) => {
    if (!hasFailed) logger.warn({ error: describeThrown(error) }, 'An ask() callback failed')
    hasFailed = true
  }
  return value => quietly(() => listener?.(value), report)
}
