import type { ToolFailure, ToolResult } from '../call/tool-result.ts'
import type { Interceptor, Next } from '../executor/chain.ts'
import type { CallContext } from '../executor/context.ts'
import { cancelled } from '../executor/failure.ts'
import type { Tool } from '../tools/tool.ts'
import { fitsTool } from '../tools/tool-pattern.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { fitsGlob } from '../util/text.ts'
import { limited, refusal, wholeNumber } from './refuse.ts'

/** What a limit allows. Anything left out is unlimited. */
export interface LimitOptions {
  /** How many calls may run at the same time. */
  concurrency?: number | undefined
  /** How many may wait for a free slot; 100 if left out. */
  queue?: number | undefined
  /** The longest they wait; 30 s if left out. */
  maxWaitMs?: number | undefined
  /** A token bucket: a burst of this many, then as many per minute, evenly spread. Calls do not wait for a token. */
  perMinute?: number | undefined
}

type LimitRules = Readonly<Record<string, LimitOptions>>

/** By pattern, with `*` and `?`. A call needs a slot in every limit that applies to it. */
export interface LimitsOptions {
  /** All tools that match a pattern share its limit. */
  tools?: LimitRules | undefined
  /** Each server that matches a pattern has its own limit. */
  servers?: LimitRules | undefined
  /** Each caller that matches a pattern has its own limit; calls without a caller count as `default`. */
  callers?: LimitRules | undefined
  clock?: Clock | undefined
}

const DEFAULT_QUEUE = 100
const DEFAULT_MAX_WAIT_MS = 30_000
const MINUTE_MS = 60_000
/** How long a call is assumed to take, to say when to retry. */
const USUAL_HOLD_MS = 1_000
const NO_LIMIT = Number.POSITIVE_INFINITY

/** Limits how many calls run at the same time and how many start per minute. Throws on an invalid limit. */
export function limits(options: LimitsOptions = {}): Interceptor {
  const { tools = {}, servers = {}, callers = {}, clock = systemClock } = options
  const toolLimits = Object.entries(tools).map(([pattern, rule]) => ({
    pattern,
    limit: new Limit(`tools.${pattern}`, rule, clock),
  }))
  const serverLimits = namedLimits('servers', servers, clock)
  const callerLimits = namedLimits('callers', callers, clock)
  const known = new WeakMap<Tool, readonly Limit[]>()
  const limitsOf = (tool: Tool, server: string | undefined) => {
    const own = toolLimits.filter(({ pattern }) => fitsTool(pattern, tool, server)).map(({ limit }) => limit)
    const limits = server === undefined ? own : [...own, ...serverLimits(server)]
    known.set(tool, limits)
    return limits
  }
  const within = async (context: CallContext, next: Next, needed: readonly Limit[]): Promise<ToolResult> => {
    const refused = tooOften(needed)
    if (refused) return refuse(context, refused)
    for (const limit of needed) limit.spendToken()
    let held = 0
    try {
      // Always in the same order, so that no two calls wait for each other.
      for (const limit of needed) {
        const problem = limit.take() ? undefined : await limit.acquire(context)
        if (problem) {
          for (const each of needed) each.returnToken()
          return refuse(context, problem)
        }
        held++
      }
      return await next()
    } finally {
      for (const limit of needed) if (held-- > 0) limit.release()
    }
  }
  return function limits(context, next) {
    const { tool, server, caller = 'default' } = context
    if (!tool || context.failure || context.dryRun) return next()
    const own = known.get(tool) ?? limitsOf(tool, server)
    const others = callerLimits(caller)
    const needed = others.length === 0 ? own : [...own, ...others]
    return needed.length === 0 ? next() : within(context, next, needed)
  }
}

/** Why a call is refused: by which limit, the reason as text, and when to retry. */
interface Refusal {
  limit: string
  reason: string
  retryAfterMs: number
}

function refuse(context: CallContext, problem: Refusal | 'cancelled'): ToolFailure {
  if (problem === 'cancelled') return refusal(context, 'cancelled', cancelled(context.name).error)
  context.notes.limit = problem.limit
  return limited(context, problem.reason, problem.retryAfterMs)
}

function tooOften(needed: readonly Limit[]): Refusal | undefined {
  let worst: Refusal | undefined
  for (const { name, perMinute, tokenInMs: retryAfterMs } of needed) {
    if (retryAfterMs <= (worst?.retryAfterMs ?? 0)) continue
    const reason = `${name} allows ${perMinute} per minute; try again in ${inSeconds(retryAfterMs)}`
    worst = { limit: name, reason, retryAfterMs }
  }
  return worst
}

/** The slots and tokens of one limit. */
class Limit {
  /** As written in a configuration: `tools.fs__*`. */
  readonly name: string
  readonly perMinute: number
  readonly #concurrency: number
  readonly #queue: number
  readonly #maxWaitMs: number
  readonly #clock: Clock
  readonly #waiting = new Set<() => void>()
  #running = 0
  /** How much of the bucket is used, in 60,000ths of a token; drains by `perMinute` per millisecond. */
  #used = 0
  #usedAt = 0

  /** Throws on invalid options. */
  constructor(name: string, options: LimitOptions, clock: Clock) {
    const { concurrency, perMinute, queue = DEFAULT_QUEUE, maxWaitMs = DEFAULT_MAX_WAIT_MS } = options
    if (concurrency === undefined && perMinute === undefined)
      throw new TypeError(`${name} limits nothing: set 'concurrency' or 'perMinute'`)
    this.name = name
    this.#clock = clock
    this.#concurrency =
      concurrency === undefined ? NO_LIMIT : wholeNumber(concurrency, 1, `${name}.concurrency`)
    this.perMinute = perMinute === undefined ? NO_LIMIT : wholeNumber(perMinute, 1, `${name}.perMinute`)
    this.#maxWaitMs = wholeNumber(maxWaitMs, 0, `${name}.maxWaitMs`)
    this.#queue = this.#maxWaitMs === 0 ? 0 : wholeNumber(queue, 0, `${name}.queue`)
  }

  /** How long until there is a token; 0 if there is one. */
  get tokenInMs(): number {
    if (this.perMinute === NO_LIMIT) return 0
    const over = this.#usedNow() + MINUTE_MS - MINUTE_MS * this.perMinute
    return over <= 0 ? 0 : Math.ceil(over / this.perMinute)
  }

  spendToken(): void {
    this.#setUsed(this.#usedNow() + MINUTE_MS)
  }

  /** For a call that did not run after all. */
  returnToken(): void {
    this.#setUsed(Math.max(0, this.#usedNow() - MINUTE_MS))
  }

  #setUsed(used: number): void {
    if (this.perMinute === NO_LIMIT) return
    this.#used = used
    this.#usedAt = this.#clock.now()
  }

  #usedNow(): number {
    if (this.#used === 0) return 0
    return Math.max(0, this.#used - (this.#clock.now() - this.#usedAt) * this.perMinute)
  }

  /** Takes a slot if one is free. */
  take(): boolean {
    if (this.#running >= this.#concurrency) return false
    this.#running++
    return true
  }

  /** Waits for a slot that a call leaves; resolves to why there is none. */
  async acquire(context: CallContext): Promise<Refusal | 'cancelled' | undefined> {
    if (context.isCancelled) return 'cancelled'
    const waiting = this.#waiting.size
    if (waiting >= this.#queue) return this.#full(waiting === 0 ? '' : `, and ${waiting} are waiting`)
    const outcome = await this.#wait(context)
    if (outcome === 'late') return this.#full(`; no slot was free within ${inSeconds(this.#maxWaitMs)}`)
    return outcome === 'cancelled' ? outcome : undefined
  }

  /** Hands the slot over to a waiting call. */
  release(): void {
    const [next] = this.#waiting
    if (next) next()
    else this.#running--
  }

  #wait(context: CallContext): Promise<'entered' | 'late' | 'cancelled'> {
    return new Promise(resolve => {
      const settle = (outcome: 'entered' | 'late' | 'cancelled') => {
        timer.cancel()
        this.#waiting.delete(enter)
        context.signal.removeEventListener('abort', giveUp)
        resolve(outcome)
      }
      const enter = () => settle('entered')
      const giveUp = () => settle('cancelled')
      const timer = this.#clock.setTimer(() => settle('late'), this.#maxWaitMs)
      this.#waiting.add(enter)
      context.signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  #full(rest: string): Refusal {
    const reason = `${this.name} allows ${this.#concurrency} at once${rest}`
    return { limit: this.name, reason, retryAfterMs: Math.max(1, USUAL_HOLD_MS / this.#concurrency) }
  }
}

/** The limits of servers, or of callers: each name that matches a pattern has its own. Throws on invalid options. */
function namedLimits(kind: string, rules: LimitRules, clock: Clock): (name: string) => readonly Limit[] {
  const known = new Map<string, readonly Limit[]>()
  const limitsFor = (name: string, fits: (pattern: string) => boolean) =>
    Object.entries(rules).flatMap(([pattern, options]) =>
      fits(pattern) ? [new Limit(`${kind}.${name}`, options, clock)] : [],
    )
  for (const pattern of Object.keys(rules)) limitsFor(pattern, each => each === pattern)
  return name => {
    const limits = known.get(name) ?? limitsFor(name, pattern => fitsGlob(name, pattern))
    known.set(name, limits)
    return limits
  }
}

function inSeconds(ms: number): string {
  return ms < 1_000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 1_000)} s`
}
