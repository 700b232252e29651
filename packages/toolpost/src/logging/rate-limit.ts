import { type Clock, systemClock, type Timer } from '../runtime/clock.ts'
import type { Logger, WriteLevel } from './logger.ts'

type Line = [fields: object, message: string]

export interface RateLimitOptions {
  clock?: Clock
  intervalMs?: number
}

interface Kind {
  level: WriteLevel
  repeated: number
  timer: Timer
}

/**
 * For lines that others can trigger as often as they like: the first of a kind is written in full, repeats are counted,
 * and the count is written once a second until a second passes without any.
 */
export class RateLimitedLog {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #kinds = new Map<string, Kind>()

  constructor(logger: Logger, { clock = systemClock, intervalMs = 1_000 }: RateLimitOptions = {}) {
    this.#logger = logger
    this.#clock = clock
    this.#intervalMs = intervalMs
  }

  /**
   * `kind` says what is counted ("stray answers") and is a constant of ours, never foreign text: each is remembered.
   * `line` is called only if it is written, so a counted line costs one map lookup.
   */
  write(level: WriteLevel, kind: string, line: () => Line): void {
    if (!this.#logger.isLevelEnabled(level)) return
    const known = this.#kinds.get(kind)
    if (known) known.repeated++
    else {
      this.#kinds.set(kind, { level, repeated: 0, timer: this.#later(kind) })
      this.#logger[level](...line())
    }
  }

  /** Writes the outstanding counts. */
  close(): void {
    for (const [kind, known] of this.#kinds) {
      known.timer.cancel()
      this.#tell(kind, known)
    }
    this.#kinds.clear()
  }

  #later(kind: string): Timer {
    const timer = this.#clock.setTimer(() => this.#due(kind), this.#intervalMs)
    timer.hold(false)
    return timer
  }

  #due(kind: string): void {
    const known = this.#kinds.get(kind)
    if (!known) return
    if (known.repeated === 0) this.#kinds.delete(kind)
    else this.#kinds.set(kind, { level: known.level, repeated: 0, timer: this.#later(kind) })
    this.#tell(kind, known)
  }

  #tell(kind: string, { level, repeated }: Kind): void {
    if (repeated > 0) this.#logger[level]({ repeated }, `${kind}: ${repeated} more`)
  }
}
