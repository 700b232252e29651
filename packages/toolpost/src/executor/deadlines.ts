import { type Clock, MAX_TIMER_MS, systemClock, type Timer } from '../util/clock.ts'

interface Expiring {
  readonly deadlineAt: number
  /** Its index among the entries; -1 if it is none of them. */
  at: number
  expire(): void
}

/**
 * All deadlines on one timer: a timer per call would cost more than the rest of the call. The timer is set for the
 * earliest deadline, and again when it fires, not when a call ends.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #entries: Expiring[] = []
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(entry: Expiring): void {
    if (entry.deadlineAt === Number.POSITIVE_INFINITY) return
    entry.at = this.#entries.push(entry) - 1
    if (entry.deadlineAt < this.#timerAt) this.#setTimer(entry.deadlineAt)
    // The timer keeps the process alive only while calls are running.
    else if (this.#entries.length === 1) this.#timer?.hold(true)
  }

  remove(entry: Expiring): void {
    if (entry.at < 0) return
    // The last one takes its place.
    const last = this.#entries.pop() as Expiring
    if (last !== entry) this.#entries[entry.at] = last
    last.at = entry.at
    entry.at = -1
    if (this.#entries.length === 0) this.#timer?.hold(false)
  }

  #setTimer(at: number): void {
    this.#timer?.cancel()
    this.#timerAt = at
    // Rounded up: a timer that fires early would find nothing due.
    const delayMs = Math.min(Math.max(Math.ceil(at - this.#clock.now()), 1), MAX_TIMER_MS)
    this.#timer = this.#clock.setTimer(() => this.#fire(), delayMs)
  }

  #fire(): void {
    this.#timer = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#clock.now()
    for (const entry of [...this.#entries]) if (entry.deadlineAt <= now) entry.expire()
    let next = this.#timerAt
    for (const { deadlineAt } of this.#entries) next = Math.min(next, deadlineAt)
    if (next < this.#timerAt) this.#setTimer(next)
  }
}

/** Shared by all executors on the system clock. */
const shared = new Deadlines(systemClock)

export function deadlinesOf(clock: Clock): Deadlines {
  return clock === systemClock ? shared : new Deadlines(clock)
}
