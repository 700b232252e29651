import type { DeadlineQueue, Expiring } from '../../executor/deadlines.ts'
import type { Limit } from './limit.ts'

export type Outcome = 'entered' | 'late' | 'cancelled'

let serials = 0

/** A waiting call. Ends by entering, by its deadline or by its caller, whichever comes first. */
export class Waiter implements Expiring {
  readonly serial = ++serials
  readonly line: Line
  readonly signal: AbortSignal | undefined
  readonly deadlineAt: number
  readonly #end: (outcome: Outcome) => void
  isWaiting = true
  /** Links in the line. */
  ahead: Waiter | undefined
  behind: Waiter | undefined
  /** Links among the deadlines. */
  queue: DeadlineQueue | undefined
  before: Expiring | undefined
  after: Expiring | undefined

  constructor(
    line: Line,
    { signal, deadlineAt }: { signal: AbortSignal | undefined; deadlineAt: number },
    end: (waiter: Waiter, outcome: Outcome) => void,
  ) {
    this.line = line
    this.signal = signal
    this.deadlineAt = deadlineAt
    this.#end = outcome => end(this, outcome)
  }

  enter(): void {
    this.#end('entered')
  }

  expire(): void {
    this.#end('late')
  }

  cancel(): void {
    this.#end('cancelled')
  }
}

/** Calls that need the same limits, first come, first served. A linked list: a call can leave from anywhere in O(1). */
export class Line {
  readonly limits: readonly Limit[]
  first: Waiter | undefined
  #last: Waiter | undefined

  constructor(limits: readonly Limit[]) {
    this.limits = limits
  }

  add(waiter: Waiter): void {
    waiter.ahead = this.#last
    if (this.#last) this.#last.behind = waiter
    else this.first = waiter
    this.#last = waiter
    for (const limit of this.limits) limit.waiting++
  }

  remove(waiter: Waiter): void {
    const { ahead, behind } = waiter
    if (ahead) ahead.behind = behind
    else this.first = behind
    if (behind) behind.ahead = ahead
    else this.#last = ahead
    waiter.ahead = waiter.behind = undefined
    for (const limit of this.limits) limit.waiting--
  }
}
