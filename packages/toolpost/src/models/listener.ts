import type { Logger } from '../logging/logger.ts'
import { quietly } from '../runtime/quietly.ts'

/** A caller's callback that cannot harm the answer: what it throws, or rejects with, is logged once. */
export function harmless<Value>(
  listener: ((value: Value) => unknown) | undefined,
  logger: Logger,
): (value: Value) => void {
  let hasFailed = false
  const report = (error: unknown) => {
    if (!hasFailed) logger.warn({ error: String(error) }, 'A listener of the answer failed')
    hasFailed = true
  }
  return value => quietly(() => listener?.(value), report)
}
