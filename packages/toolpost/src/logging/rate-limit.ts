import { type Clock, systemClock } from '../util/clock.ts'
import type { Logger, WriteLevel } from './logger.ts'

/**
 * For lines that others can trigger as often as they like: writes one of each kind per interval, and before the next
 * one how many were omitted.
 */
export class RateLimitedLog {
  readonly #logger: Logger
  readonly #settings: { clock: Clock; intervalMs: number }
  readonly #last = new Map<string, { level: WriteLevel; at: number; omitted: number }>()

  constructor(logger: Logger, { clock = systemClock, intervalMs = 1_000 } = {}) {
    this.#logger = logger
    this.#settings = { clock, intervalMs }
  }

  /** `kind` says what is counted ("stray answers"): a constant of ours, since each is remembered. */
  write(level: WriteLevel, kind: string, line: () => [fields: object, message: string]): void {
    if (!this.#logger.isLevelEnabled(level)) return
    const last = this.#last.get(kind)
    const at = this.#settings.clock.now()
    if (last && at - last.at < this.#settings.intervalMs) return void last.omitted++
    this.close(kind)
    this.#last.set(kind, { level, at, omitted: 0 })
    this.#logger[level](...line())
  }

  /** Writes the outstanding counts: of one kind, or of all. */
  close(only?: string): void {
    for (const [kind, { level, omitted }] of this.#last) {
      if (kind !== (only ?? kind)) continue
      this.#last.delete(kind)
      if (omitted > 0) this.#logger[level]({ repeated: omitted }, `${kind}: ${omitted} more`)
    }
  }
}
