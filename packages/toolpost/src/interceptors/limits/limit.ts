import { wholeNumber } from '../whole-number.ts'
import type { Line } from './line.ts'

/** What a limit allows. Anything left out is unlimited. */
export interface LimitOptions {
  /** How many calls may run at the same time. */
  concurrency?: number | undefined
  /** How many may wait for a free slot; 100 if left out. */
  queue?: number | undefined
  /** The longest they wait; 30 s if left out. */
  maxWaitMs?: number | undefined
  /** A token bucket: a burst of this many, then as many per minute, evenly spread. */
  perMinute?: number | undefined
}

const DEFAULT_QUEUE = 100
const DEFAULT_MAX_WAIT_MS = 30_000
const MINUTE_MS = 60_000
/** Assumed until it is known how long calls take. */
const USUAL_HOLD_MS = 1_000

const NO_LIMIT = Number.POSITIVE_INFINITY

let ids = 0

/** The slots and tokens of one limit. The gate decides who gets them. */
export class Limit {
  readonly id = ++ids
  /** As written in a configuration: `tools.fs__*`. */
  readonly name: string
  readonly concurrency: number
  readonly queue: number
  readonly maxWaitMs: number
  readonly perMinute: number
  running = 0
  waiting = 0
  /** Lines with waiting calls. */
  readonly lines = new Set<Line>()
  /**
   * How much of the bucket is used, in 60,000ths of a token: integers, as long as the clock's are, so that no token is
   * gained or lost by rounding. Drains by `perMinute` per millisecond.
   */
  #used = 0
  #usedAt = 0
  #holdMs = USUAL_HOLD_MS

  /** Throws on invalid options. */
  constructor(name: string, options: LimitOptions) {
    const { concurrency, perMinute, queue = DEFAULT_QUEUE, maxWaitMs = DEFAULT_MAX_WAIT_MS } = options
    if (concurrency === undefined && perMinute === undefined)
      throw new TypeError(`${name} limits nothing: set 'concurrency' or 'perMinute'`)
    const line = wholeNumber(queue, 0, `${name}.queue`)
    const waitMs = wholeNumber(maxWaitMs, 0, `${name}.maxWaitMs`)
    this.name = name
    this.concurrency =
      concurrency === undefined ? NO_LIMIT : wholeNumber(concurrency, 1, `${name}.concurrency`)
    this.perMinute = perMinute === undefined ? NO_LIMIT : wholeNumber(perMinute, 1, `${name}.perMinute`)
    // Nobody waits for tokens.
    this.maxWaitMs = concurrency === undefined ? NO_LIMIT : waitMs
    this.queue = concurrency === undefined ? NO_LIMIT : waitMs === 0 ? 0 : line
  }

  get hasPlace(): boolean {
    return this.running < this.concurrency
  }

  /** Whether forgetting it would change nothing. */
  isIdle(now: number): boolean {
    return this.running === 0 && this.waiting === 0 && this.#usedNow(now) === 0
  }

  /** How long until there is a token; 0 if there is one. */
  tokenInMs(now: number): number {
    if (this.perMinute === NO_LIMIT) return 0
    const over = this.#usedNow(now) + MINUTE_MS - MINUTE_MS * this.perMinute
    return over <= 0 ? 0 : Math.ceil(over / this.perMinute)
  }

  spendToken(now: number): void {
    if (this.perMinute === NO_LIMIT) return
    this.#used = this.#usedNow(now) + MINUTE_MS
    this.#usedAt = now
  }

  /** For a call that did not run after all. */
  returnToken(now: number): void {
    this.#used = Math.max(0, this.#usedNow(now) - MINUTE_MS)
    this.#usedAt = now
  }

  leave(heldMs: number): void {
    this.running--
    this.#holdMs += (heldMs - this.#holdMs) / 8
  }

  /** When a slot is likely to be free, judging by how long calls took. */
  get placeInMs(): number {
    return Math.max(1, this.#holdMs / this.concurrency)
  }

  #usedNow(now: number): number {
    return this.#used === 0 ? 0 : Math.max(0, this.#used - (now - this.#usedAt) * this.perMinute)
  }
}
