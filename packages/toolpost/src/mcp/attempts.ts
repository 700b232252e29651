import type { Clock, Timer } from '../runtime/clock.ts'
import { STABLE_AFTER_MS } from './limits.ts'
import { firstConnectionDelayMs, reconnectDelayMs } from './retry-schedule.ts'

export interface AttemptsOptions {
  clock: Clock
  /** How often a first connection is tried. */
  attempts: number
  baseDelayMs: number
  /** The number of the attempt or the time of the next one changed. */
  onChange(): void
}

/** When to try to connect, and when to give up. One wait at a time. */
export class Attempts {
  readonly #options: AttemptsOptions
  #number = 0
  #nextAt: string | undefined
  #wasReady = false
  #readyAt = 0
  /** Connections in a row that ended soon and without use: the next one waits the longer. */
  #shortLives = 0
  #timer: Timer | undefined
  #wake: (() => void) | undefined

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  /** The attempt under way, or the one that succeeded. */
  get number(): number {
    return this.#number
  }

  /** ISO time of the next attempt, while one is waited for. */
  get nextAt(): string | undefined {
    return this.#nextAt
  }

  /** Whether the server was there before: then it is tried for ever. */
  get wasReady(): boolean {
    return this.#wasReady
  }

  delayBefore(attempt: number): number {
    return this.#wasReady
      ? reconnectDelayMs(attempt)
      : firstConnectionDelayMs(attempt, this.#options.baseDelayMs)
  }

  isLast(attempt: number): boolean {
    return !this.#wasReady && attempt >= this.#options.attempts
  }

  /** Waits until an attempt is due; not at all if it is due now, so that there is no gap without an attempt. */
  next(attempt: number): Promise<void> | undefined {
    const delayMs = this.delayBefore(attempt)
    this.#number = attempt
    this.#nextAt = delayMs > 0 ? new Date(Date.now() + delayMs).toISOString() : undefined
    this.#options.onChange()
    return delayMs > 0 ? this.#wait(delayMs) : undefined
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
      this.#timer = this.#options.clock.setTimer(resolve, delayMs)
    })
  }

  /** The attempt that was waited for begins. */
  begin(): void {
    this.#nextAt = undefined
  }

  /** Ends the wait. */
  wake(): void {
    this.#nextAt = undefined
    this.#timer?.cancel()
    this.#wake?.()
  }

  succeeded(): void {
    this.#wasReady = true
    this.#readyAt = this.#options.clock.now()
  }

  /** The number of the attempt to begin with after a connection that was lost. */
  afterLoss(hasAnswered: boolean): number {
    const wasOfUse = hasAnswered || this.#options.clock.now() - this.#readyAt >= STABLE_AFTER_MS
    this.#shortLives = wasOfUse ? 0 : this.#shortLives + 1
    return Math.max(1, this.#shortLives)
  }

  /** Somebody restarts the server: its earlier deaths are forgiven. */
  forgive(): void {
    this.#shortLives = 0
  }
}
