import { type Clock, MAX_TIMER_MS, systemClock, type Timer } from '../runtime/clock.ts'
import { SLICE_MS } from '../runtime/slices.ts'
import type { Tool } from '../tools/tool.ts'
import type { Attempt } from './attempt.ts'
import { type Failure, timedOut } from './failure.ts'
import type { RunOptions } from './options.ts'

/** Expires at `deadlineAt` unless removed before. The links belong to Deadlines. */
export interface Expiring {
  deadlineAt: number
  expire(): void
  queue: DeadlineQueue | undefined
  before: Expiring | undefined
  after: Expiring | undefined
}

/** Calls with the same time limit, earliest deadline first: added at the end, removed from anywhere. */
export interface DeadlineQueue {
  first: Expiring | undefined
  last: Expiring | undefined
}

/** Callers choose their limits: beyond this many, empty queues are not kept for the next call. */
const MAX_QUEUES = 64

/**
 * At most this many calls expire per turn of the event loop, and one as long as a turn takes longer than a slice: each is
 * logged, recorded and reported after it expired, which takes milliseconds if its arguments are heavy.
 */
const ENDED_AT_ONCE = 16

/** Inserts after every earlier deadline: at the end, unless the call took long to prepare. */
function link(entry: Expiring, queue: DeadlineQueue): void {
  let before = queue.last
  while (before && before.deadlineAt > entry.deadlineAt) before = before.before
  const after = before ? before.after : queue.first
  entry.queue = queue
  entry.before = before
  entry.after = after
  if (before) before.after = entry
  else queue.first = entry
  if (after) after.before = entry
  else queue.last = entry
}

/**
 * All deadlines on one timer. A timer per call would cost more than the rest of the call, so a call only joins a
 * list, and the timer is reset when it fires, not when a call ends.
 */
export class Deadlines {
  readonly #queues = new Map<number, DeadlineQueue>()
  readonly #clock: Clock
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #waiting = 0
  #holding = false
  #idleCheck = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  add(entry: Expiring, limitMs: number): void {
    const queue = this.#queueFor(limitMs)
    link(entry, queue)
    this.#waiting++
    if (entry.deadlineAt < this.#timerAt) this.#setTimer(entry.deadlineAt)
    if (!this.#holding) this.#hold(true)
  }

  remove(entry: Expiring): void {
    const { queue, before, after } = entry
    if (!queue) return
    if (before) before.after = after
    else queue.first = after
    if (after) after.before = before
    else queue.last = before
    entry.queue = entry.before = entry.after = undefined
    if (!queue.first && this.#queues.size > MAX_QUEUES) this.#forgetEmptyQueues()
    if (--this.#waiting === 0 && !this.#idleCheck) this.#releaseSoon()
  }

  #forgetEmptyQueues(): void {
    for (const [limitMs, queue] of this.#queues) if (!queue.first) this.#queues.delete(limitMs)
  }

  #queueFor(limit: number): DeadlineQueue {
    const limitMs = Math.ceil(limit)
    let queue = this.#queues.get(limitMs)
    if (!queue) {
      queue = { first: undefined, last: undefined }
      this.#queues.set(limitMs, queue)
    }
    return queue
  }

  #setTimer(at: number): void {
    this.#timer?.cancel()
    this.#timerAt = at
    // Rounded up: a timer that fires early would find nothing due and have to be set again. A deadline beyond the longest
    // delay is checked again then.
    const delay = Math.min(Math.max(Math.ceil(at - this.#clock.now()), 1), MAX_TIMER_MS)
    this.#timer = this.#clock.setTimer(() => this.#fire(), delay)
    this.#timer.hold(this.#holding)
  }

  /** `atOnce`: how many may expire now; the others do so in later turns. */
  #fire(atOnce = 1): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#clock.now()
    let earliest = Number.POSITIVE_INFINITY
    let ended = 0
    for (const [limitMs, queue] of this.#queues) {
      for (let due = queue.first; due && due.deadlineAt <= now; due = queue.first) {
        if (ended++ === atOnce) return this.#fireSoon(atOnce)
        this.remove(due)
        due.expire()
      }
      if (!queue.first) this.#queues.delete(limitMs)
      else earliest = Math.min(earliest, queue.first.deadlineAt)
    }
    if (earliest < this.#timerAt) this.#setTimer(earliest)
  }

  #fireSoon(atOnce: number): void {
    const until = performance.now() + SLICE_MS
    setImmediate(() => this.#fire(performance.now() > until ? 1 : Math.min(2 * atOnce, ENDED_AT_ONCE)))
  }

  /** The timer keeps the process alive only while calls are running; checked once per turn, not once per call. */
  #releaseSoon(): void {
    this.#idleCheck = true
    setImmediate(() => {
      this.#idleCheck = false
      if (this.#waiting === 0) this.#hold(false)
    })
  }

  #hold(alive: boolean): void {
    this.#holding = alive
    this.#timer?.hold(alive)
  }
}

/** Shared by all executors on the system clock. */
const shared = new Deadlines(systemClock)

export function deadlinesOf(clock: Clock): Deadlines {
  return clock === systemClock ? shared : new Deadlines(clock)
}

/** A limit in milliseconds; anything else counts as not given. */
export function limitOf(ms: number | undefined): number | undefined {
  return typeof ms === 'number' && ms >= 0 ? ms : undefined
}

type Timed = Pick<Tool, 'timeoutMs' | 'maxTimeoutMs'>

/** The caller's limit, else the tool's, else the executor's; never more than the tool's `maxTimeoutMs`. */
export function timeLimit(options: Pick<RunOptions, 'timeoutMs'>, tool: Timed, defaultMs: number): number {
  const { maxTimeoutMs } = tool
  const limitMs = limitOf(options.timeoutMs) ?? limitOf(tool.timeoutMs) ?? defaultMs
  return maxTimeoutMs === undefined ? limitMs : Math.min(limitMs, limitOf(maxTimeoutMs) ?? limitMs)
}

/** Why a call can no longer begin: its time ran out while its request was being read. */
export function overdue(
  { name, options, beforeMs }: Attempt,
  tool: Timed,
  defaultMs: number,
): Failure | undefined {
  if (beforeMs <= 0) return undefined
  const limitMs = timeLimit(options, tool, defaultMs)
  return beforeMs < limitMs ? undefined : timedOut(name, limitMs)
}
