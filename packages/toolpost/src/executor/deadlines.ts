import { type Clock, MAX_TIMER_MS, systemClock, type Timer } from '../runtime/clock.ts'

export interface Expiring {
  readonly deadlineAt: number
  /** Its neighbours in the list of deadlines. */
  before: Expiring | undefined
  after: Expiring | undefined
  expire(): void
}

/**
 * All deadlines on one timer: a timer per call would cost more than the rest of the call. The timer is set for the
 * earliest deadline, and again when it fires, not when a call ends.
 */
export class Deadlines {
  readonly #clock: Clock
  #first: Expiring | undefined
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(entry: Expiring): void {
    const next = this.#first
    entry.after = next
    if (next) next.before = entry
    this.#first = entry
    if (entry.deadlineAt < this.#timerAt) this.#setTimer(entry.deadlineAt)
    // The timer keeps the process alive only while calls are running.
    else if (!next) this.#timer?.hold(true)
  }

  remove(entry: Expiring): void {
    const { before, after } = entry
    if (before) before.after = after
    else if (this.#first === entry) this.#first = after
    else return
    if (after) after.before = before
    entry.before = undefined
    entry.after = undefined
    if (!this.#first) this.#timer?.hold(false)
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
    let earliest = Number.POSITIVE_INFINITY
    const due: Expiring[] = []
    for (let entry = this.#first; entry; entry = entry.after) {
      if (entry.deadlineAt <= now) due.push(entry)
      else earliest = Math.min(earliest, entry.deadlineAt)
    }
    for (const entry of due) entry.expire()
    if (earliest < this.#timerAt) this.#setTimer(earliest)
  }
}

/** Shared by all executors on the system clock. */
const shared = new Deadlines(systemClock)

export function deadlinesOf(clock: Clock): Deadlines {
  return clock === systemClock ? shared : new Deadlines(clock)
}
