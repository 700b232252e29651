import { type Deadlines, deadlinesOf } from '../../executor/deadlines.ts'
import { unwatch, watch } from '../../executor/watched-signals.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Limit } from './limit.ts'
import { Line, type Outcome, Waiter } from './line.ts'

/** Why a call is refused: by which limit, the reason as text, and when to retry. */
export interface Refusal {
  limit: Limit
  reason: string
  retryAfterMs: number
}

/**
 * Admits calls that find a slot in every limit they need, and takes all those slots together: no call holds one while
 * waiting for another, so there is no deadlock. A waiting call queues at every limit it needs; of those that can
 * proceed, the one that came first does.
 */
export class Gate {
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  /** Waiting calls, by the limits they need. No line is empty. */
  readonly #lines = new Map<string, Line>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#deadlines = deadlinesOf(clock)
  }

  /** `undefined` if the call was admitted, and must `leave` later; otherwise why not. */
  enter(
    limits: readonly Limit[],
    signal: AbortSignal | undefined,
  ): Refusal | undefined | Promise<Refusal | 'cancelled' | undefined> {
    const now = this.#clock.now()
    const isFree = limits.every(limit => limit.hasPlace)
    const refusal = tooOften(limits, now) ?? (isFree ? undefined : noRoom(limits))
    if (refusal) return refusal
    for (const limit of limits) limit.spendToken(now)
    if (!isFree) return this.#wait(limits, signal)
    for (const limit of limits) limit.running++
    return undefined
  }

  leave(limits: readonly Limit[], heldMs: number): void {
    for (const limit of limits) limit.leave(heldMs)
    for (let next = firstOf(limits); next; next = firstOf(limits)) {
      for (const limit of next.line.limits) limit.running++
      next.enter()
    }
  }

  async #wait(
    limits: readonly Limit[],
    signal: AbortSignal | undefined,
  ): Promise<Refusal | 'cancelled' | undefined> {
    const outcome = await this.#outcome(limits, signal)
    if (outcome === 'entered') return undefined
    return outcome === 'late' ? tooLong(limits) : outcome
  }

  #outcome(limits: readonly Limit[], signal: AbortSignal | undefined): Promise<Outcome> {
    const maxWaitMs = Math.min(...limits.map(limit => limit.maxWaitMs))
    const deadlineAt = this.#clock.now() + maxWaitMs
    const line = this.#lineOf(limits)
    return new Promise(resolve => {
      const waiter = new Waiter(line, { signal, deadlineAt }, (ended, outcome) => {
        if (this.#takeOut(ended, outcome)) resolve(outcome)
      })
      line.add(waiter)
      this.#deadlines.add(waiter, maxWaitMs)
      if (signal) watch(signal, waiter)
    })
  }

  #lineOf(limits: readonly Limit[]): Line {
    const key = keyOf(limits)
    const line = this.#lines.get(key) ?? new Line(limits)
    this.#lines.set(key, line)
    for (const limit of limits) limit.lines.add(line)
    return line
  }

  /** Frees its place in line, and its token if it does not enter. Returns whether it was still waiting. */
  #takeOut(waiter: Waiter, outcome: Outcome): boolean {
    const { line, signal, isWaiting } = waiter
    if (!isWaiting) return false
    if (outcome !== 'entered') for (const limit of line.limits) limit.returnToken(this.#clock.now())
    waiter.isWaiting = false
    line.remove(waiter)
    this.#deadlines.remove(waiter)
    if (signal) unwatch(signal, waiter)
    if (line.first) return true
    this.#lines.delete(keyOf(line.limits))
    for (const limit of line.limits) limit.lines.delete(line)
    return true
  }
}

function keyOf(limits: readonly Limit[]): string {
  return limits.map(({ id }) => id).join()
}

/** The first in line that needs one of `limits` and now finds a slot in all limits it needs. */
function firstOf(limits: readonly Limit[]): Waiter | undefined {
  let found: Waiter | undefined
  for (const limit of limits) {
    if (!limit.hasPlace) continue
    for (const { first, limits: needed } of limit.lines) {
      const isEarlier = first && (!found || first.serial < found.serial)
      if (isEarlier && needed.every(each => each.hasPlace)) found = first
    }
  }
  return found
}

function tooOften(limits: readonly Limit[], now: number): Refusal | undefined {
  let limit: Limit | undefined
  let retryAfterMs = 0
  for (const each of limits) {
    const inMs = each.tokenInMs(now)
    if (inMs > retryAfterMs) [limit, retryAfterMs] = [each, inMs]
  }
  if (!limit) return undefined
  const reason = `${limit.name} allows ${limit.perMinute} per minute; try again in ${inSeconds(retryAfterMs)}`
  return { limit, reason, retryAfterMs }
}

function noRoom(limits: readonly Limit[]): Refusal | undefined {
  const limit = limits.find(({ waiting, queue }) => waiting >= queue)
  if (!limit) return undefined
  const { waiting, placeInMs } = fullOf(limits)
  const others = waiting === 0 ? '' : `, and ${waiting} are waiting`
  return { limit, reason: `${allowance(fullOf(limits))}${others}`, retryAfterMs: placeInMs }
}

function tooLong(limits: readonly Limit[]): Refusal {
  const limit = fullOf(limits)
  const maxWaitMs = Math.min(...limits.map(each => each.maxWaitMs))
  const reason = `${allowance(limit)}; no slot was free within ${inSeconds(maxWaitMs)}`
  return { limit, reason, retryAfterMs: limit.placeInMs }
}

function fullOf(limits: readonly Limit[]): Limit {
  return limits.find(limit => !limit.hasPlace) ?? (limits[0] as Limit)
}

function allowance({ name, concurrency }: Limit): string {
  return `${name} allows ${concurrency} at once`
}

function inSeconds(ms: number): string {
  return ms < 1_000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 1_000)} s`
}
