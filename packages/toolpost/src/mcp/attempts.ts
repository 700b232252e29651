import type { Clock, Timer } from '../runtime/clock.ts'
import {
  FAILED_MAX_RETRY_MS,
  FAILED_RETRY_MS,
  RECONNECT_BASE_DELAY_MS,
  RECONNECT_MAX_DELAY_MS,
  STABLE_AFTER_MS,
} from './limits.ts'

export interface AttemptsOptions {
  clock: Clock
  /** How often a first connection is tried before it counts as failed, and is tried slowly. */
  attempts: number
  baseDelayMs: number
  /** The number of the attempt or the time of the next one changed. */
  onChange(): void
}

/** When to try to connect, and when that counts as failed. One wait at a time. */
export class Attempts {
  readonly #options: AttemptsOptions
  /** The attempt under way, or the one that succeeded; of a server that has failed, those that were made. */
  number = 0
  /** ISO time of the next attempt, while one is waited for. */
  nextAt: string | undefined
  /** Whether the server was there before: then it is tried for ever. */
  wasReady = false
  #readyAt = 0
  /** Connections in a row that ended soon and without use: the next one waits the longer. */
  #shortLives = 0
  #askedMs = 0
  /** Attempts that were not made. */
  #skipped = 0
  #timer: Timer | undefined
  #wake: (() => void) | undefined

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  delayBefore(attempt: number): number {
    return Math.max(this.#usualDelay(attempt), this.#askedMs)
  }

  #usualDelay(attempt: number): number {
    if (this.wasReady) return reconnectDelayMs(attempt)
    const slow = attempt - this.#options.attempts
    return slow > 0 ? failedDelayMs(slow) : doubled(attempt, this.#options.baseDelayMs)
  }

  /** Whether the server counts as failed if this attempt fails. */
  isLast(attempt: number): boolean {
    return !this.wasReady && attempt >= this.#options.attempts
  }

  /** The number to count on from if the next attempt is not worth much: that of the last quick one. */
  pastQuick(attempt: number): number {
    if (this.wasReady) return attempt
    const past = Math.max(attempt, this.#options.attempts)
    this.#skipped += past - attempt
    return past
  }

  /** The server asked to be left alone for so long, or did not. */
  asked(afterMs: number | undefined): void {
    this.#askedMs = afterMs ?? 0
  }

  /** Waits until an attempt is due; not at all if it is due now, so that there is no gap without an attempt. */
  next(attempt: number): Promise<void> | undefined {
    const { clock, onChange } = this.#options
    const delayMs = this.delayBefore(attempt)
    const isSlow = this.isLast(attempt - 1)
    this.number = (isSlow ? attempt - 1 : attempt) - this.#skipped
    this.nextAt = delayMs > 0 ? new Date(Date.now() + delayMs).toISOString() : undefined
    onChange()
    if (delayMs <= 0) return undefined
    this.#timer = clock.setTimer(() => this.wake(), delayMs)
    // Nobody waits for it: a program that has nothing else to do may end.
    if (isSlow) this.#timer.hold(false)
    return this.untilWoken()
  }

  /** Waits for `wake`, however long. */
  untilWoken(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  /** Ends the wait: the attempt is due, or given up. */
  wake(): void {
    this.nextAt = undefined
    this.#timer?.cancel()
    this.#wake?.()
  }

  succeeded(): void {
    this.wasReady = true
    this.#askedMs = 0
    this.#readyAt = this.#options.clock.now()
  }

  /** The number of the attempt to begin with after a connection that was lost. */
  afterLoss(hasAnswered: boolean): number {
    const wasOfUse = hasAnswered || this.#options.clock.now() - this.#readyAt >= STABLE_AFTER_MS
    this.#shortLives = wasOfUse ? 0 : this.#shortLives + 1
    return Math.max(1, this.#shortLives)
  }

  /** Somebody restarts the server: its earlier deaths are forgiven, its wishes forgotten. */
  forgive(): void {
    this.#shortLives = 0
    this.#askedMs = 0
    this.#skipped = 0
  }
}

/** Before attempt 1, 2, 3, … to get a lost server back: at once, then doubling up to a cap, for ever. */
export function reconnectDelayMs(attempt: number): number {
  return Math.min(doubled(attempt, RECONNECT_BASE_DELAY_MS), RECONNECT_MAX_DELAY_MS)
}

/** Before slow attempt 1, 2, 3, … of a server that has failed: doubling up to a cap, for ever. */
export function failedDelayMs(attempt: number): number {
  return Math.min(doubled(attempt + 1, FAILED_RETRY_MS), FAILED_MAX_RETRY_MS)
}

/** Before attempt 1, 2, 3, …: 0, base, 2 × base, … */
export function doubled(attempt: number, baseMs: number): number {
  return attempt <= 1 ? 0 : baseMs * 2 ** (attempt - 2)
}
