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
  /** How many times the first connection is tried before the server counts as failed and is retried slowly. */
  attempts: number
  baseDelayMs: number
  /** The attempt number or the time of the next attempt changed. */
  onChange(): void
}

/** Decides when to try to connect, and when the server counts as failed. One wait at a time. */
export class Attempts {
  readonly #options: AttemptsOptions
  /** The current attempt, or the one that succeeded; for a failed server, the number of attempts made. */
  number = 0
  /** ISO time of the next attempt, while waiting for it. */
  nextAt: string | undefined
  /** Whether the server was ever connected: it is then retried forever. */
  wasReady = false
  #readyAt = 0
  /** Consecutive connections that ended soon, without being used: each makes the next one wait longer. */
  #shortLives = 0
  #askedMs = 0
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

  /** Skips the remaining quick attempts if they would be pointless; returns the number to continue from. */
  pastQuick(attempt: number): number {
    if (this.wasReady) return attempt
    const past = Math.max(attempt, this.#options.attempts)
    this.#skipped += past - attempt
    return past
  }

  /** Sets the server's Retry-After, if it sent one. */
  asked(afterMs: number | undefined): void {
    this.#askedMs = afterMs ?? 0
  }

  /** Waits until an attempt is due; `undefined` if it is due now, so that there is no gap between attempts. */
  next(attempt: number): Promise<void> | undefined {
    const { clock, onChange } = this.#options
    const delayMs = this.delayBefore(attempt)
    const isSlow = this.isLast(attempt - 1)
    this.number = (isSlow ? attempt - 1 : attempt) - this.#skipped
    this.nextAt = delayMs > 0 ? new Date(Date.now() + delayMs).toISOString() : undefined
    onChange()
    if (delayMs <= 0) return undefined
    this.#timer = clock.setTimer(() => this.wake(), delayMs)
    // Nobody waits for it, so it must not keep the process alive.
    if (isSlow) this.#timer.hold(false)
    return this.untilWoken()
  }

  /** Waits for `wake`, however long it takes. */
  untilWoken(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  /** Ends the wait: the attempt is due or abandoned. */
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

  /** The number of the first attempt after a connection was lost. */
  afterLoss(hasAnswered: boolean): number {
    const wasOfUse = hasAnswered || this.#options.clock.now() - this.#readyAt >= STABLE_AFTER_MS
    this.#shortLives = wasOfUse ? 0 : this.#shortLives + 1
    return Math.max(1, this.#shortLives)
  }

  /** For a restart on request: forgets earlier failures and the server's Retry-After. */
  forgive(): void {
    this.#shortLives = 0
    this.#askedMs = 0
    this.#skipped = 0
  }
}

/** The delay before attempt 1, 2, 3, … to reconnect a lost server: 0, then doubling up to a cap. */
export function reconnectDelayMs(attempt: number): number {
  return Math.min(doubled(attempt, RECONNECT_BASE_DELAY_MS), RECONNECT_MAX_DELAY_MS)
}

/** The delay before slow attempt 1, 2, 3, … of a failed server: doubling up to a cap. */
export function failedDelayMs(attempt: number): number {
  return Math.min(doubled(attempt + 1, FAILED_RETRY_MS), FAILED_MAX_RETRY_MS)
}

/** The delay before attempt 1, 2, 3, …: 0, base, 2 × base, … */
function doubled(attempt: number, baseMs: number): number {
  return attempt <= 1 ? 0 : baseMs * 2 ** (attempt - 2)
}
