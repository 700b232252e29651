import { systemClock } from '../util/clock.ts'
import type { Logger, WriteLevel } from './logger.ts'

/**
 * For lines that others can trigger as often as they like: writes one of each kind per interval, and before the next
 * one how many were omitted.
 */
export function rateLimitedLog(logger: Logger, { clock = systemClock, intervalMs = 1_000 } = {}) {
  const lastOf = new Map<string, { at: number; omitted: number }>()
  return {
    /** `kind` says what is counted ("stray answers"): a constant of ours, since each is remembered. */
    write(level: WriteLevel, kind: string, line: () => [fields: object, message: string]): void {
      if (!logger.isLevelEnabled(level)) return
      const last = lastOf.get(kind)
      const at = clock.now()
      if (last && at - last.at < intervalMs) return void last.omitted++
      if (last?.omitted) logger[level]({ repeated: last.omitted }, `${kind}: ${last.omitted} more`)
      lastOf.set(kind, { at, omitted: 0 })
      logger[level](...line())
    },
  }
}
