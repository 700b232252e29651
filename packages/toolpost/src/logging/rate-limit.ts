import { type Clock, systemClock } from '../util/clock.ts'
import type { Logger, WriteLevel } from './logger.ts'

type Last = { level: WriteLevel; at: number; omitted: number }

/**
 * For lines that others can trigger as often as they like: writes one of each kind per interval, and before the next
 * one how many were omitted.
 */
export class RateLimitedLog {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #last = new Map<string, Last>()

  constructor(logger: Logger, { clock = systemClock, intervalMs = 1_000 } = {}) {
    this.#logger = logger
    this.#clock = clock
    this.#intervalMs = intervalMs
  }

  /** `kind` says what is counted ("stray answers"): a constant of ours, since each is remembered. */
  write(level: WriteLevel, kind: string, line: () => [fields: object, message: string]): void {
    if (!this.#logger.isLevelEnabled(level)) return
    const last = this.#last.get(kind)
    const at = this.#clock.now()
    if (last && at - last.at < this.#intervalMs) return void last.omitted++
    if (last) this.#report(kind, last)
    this.#last.set(kind, { level, at, omitted: 0 })
    this.#logger[level](...line())
  }

  /** Writes the outstanding counts. */
  close(): void {
    for (const [kind, last] of this.#last) this.#report(kind, last)
    this.#last.clear()
  }

  #report(kind: string, { level, omitted }: Last): void {
    if (omitted > 0) this.#logger[level]({ repeated: omitted }, `${kind}: ${omitted} more`)
  }
}
