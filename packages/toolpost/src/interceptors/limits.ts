import type { ToolResult } from '../call/tool-result.ts'
import type { Interceptor, Next } from '../executor/chain.ts'
import type { CallContext } from '../executor/context.ts'
import { cancelled } from '../executor/failure.ts'
import { failureResult } from '../executor/result.ts'
import type { Tool } from '../tools/tool.ts'
import { fitsTool } from '../tools/tool-pattern.ts'
import { type Clock, rounded, systemClock } from '../util/clock.ts'
import { fitsGlob } from '../util/text.ts'
import { limited, wholeNumber } from './refuse.ts'

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

/** The name that a call counts under in a limit for this pattern; `undefined` if it does not match. */
const NAMES = {
  tools: (pattern: string, { tool, server }: CallContext) =>
    tool && fitsTool(pattern, tool, server) ? pattern : undefined,
  servers: (pattern: string, { server }: CallContext) =>
    server !== undefined && fitsGlob(server, pattern) ? server : undefined,
  callers: (pattern: string, { caller = 'default' }: CallContext) =>
    fitsGlob(caller, pattern) ? caller : undefined,
}

/** Limits how many calls run at the same time and how many start per minute. Throws on an invalid limit. */
export function limits(options: LimitsOptions = {}): Interceptor {
  const { clock = systemClock } = options
  const rulesOf = (kind: keyof typeof NAMES) =>
    Object.entries(options[kind] ?? {}).map(([pattern, rule]) => {
      const limitOf = (name: string) => createLimit(`${kind}.${name}`, rule, clock)
      return { limitOf, nameIn: NAMES[kind], pattern, known: new Map([[pattern, limitOf(pattern)]]) }
    })
  const fitting = (rules: ReturnType<typeof rulesOf>, context: CallContext) =>
    rules.flatMap(({ limitOf, nameIn, pattern, known }) => {
      const name = nameIn(pattern, context)
      if (name === undefined) return []
      const limit = known.get(name) ?? limitOf(name)
      known.set(name, limit)
      return limit
    })
  const toolRules = [...rulesOf('tools'), ...rulesOf('servers')]
  const callerRules = rulesOf('callers')
  const known = new WeakMap<Tool, readonly Limit[]>()
  const within = async (context: CallContext, next: Next, needed: readonly Limit[]): Promise<ToolResult> => {
    if (needed.some(limit => limit.noToken())) {
      const refusals = needed.flatMap(limit => limit.noToken() ?? [])
      return refuse(context, refusals.sort((a, b) => b.retryAfterMs - a.retryAfterMs)[0] as Refusal)
    }
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
    const { tool } = context
    if (!tool || context.failure || context.dryRun) return next()
    const own = known.get(tool) ?? fitting(toolRules, context)
    known.set(tool, own)
    const needed = callerRules.length === 0 ? own : [...own, ...fitting(callerRules, context)]
    return needed.length === 0 ? next() : within(context, next, needed)
  }
}

/** Why a call is refused: by which limit, the reason as text, and when to retry. */
interface Refusal {
  limit: string
  reason: string
  retryAfterMs: number
}

function refuse(context: CallContext, problem: Refusal | 'cancelled'): ToolResult {
  if (problem === 'cancelled') return failureResult(cancelled(context.name), context)
  context.notes.limit = problem.limit
  return limited(context, problem.reason, problem.retryAfterMs)
}

type Limit = ReturnType<typeof createLimit>

/** The slots and tokens of one limit, named as in a configuration: `tools.fs__*`. Throws on invalid options. */
function createLimit(name: string, options: LimitOptions, clock: Clock) {
  if (options.concurrency === undefined && options.perMinute === undefined)
    throw new TypeError(`${name} limits nothing: set 'concurrency' or 'perMinute'`)
  const option = (key: keyof LimitOptions, minimum: number, usual: number) => {
    const value = options[key]
    return value === undefined ? usual : wholeNumber(value, minimum, `${name}.${key}`)
  }
  const concurrency = option('concurrency', 1, NO_LIMIT)
  const perMinute = option('perMinute', 1, NO_LIMIT)
  const maxWaitMs = option('maxWaitMs', 0, DEFAULT_MAX_WAIT_MS)
  const queue = maxWaitMs === 0 ? 0 : option('queue', 0, DEFAULT_QUEUE)
  /** What a call waits with: without an outcome, it has a slot. */
  const waiting = new Set<(outcome?: Refusal | 'cancelled') => void>()
  let running = 0
  /** How long a token takes to drip into the bucket, and when the bucket is full again. */
  const tokenMs = MINUTE_MS / perMinute
  let fullAt = 0

  const full = (rest: string): Refusal => {
    const reason = `${name} allows ${concurrency} at once${rest}`
    return { limit: name, reason, retryAfterMs: Math.max(1, USUAL_HOLD_MS / concurrency) }
  }

  return {
    /** Why there is no token now. */
    noToken(): Refusal | undefined {
      if (perMinute === NO_LIMIT) return undefined
      const missingMs = Math.max(0, fullAt - clock.now())
      const retryAfterMs = rounded(missingMs + tokenMs - MINUTE_MS)
      if (retryAfterMs <= 0) return undefined
      const reason = `${name} allows ${perMinute} per minute; try again in ${inSeconds(retryAfterMs)}`
      return { limit: name, reason, retryAfterMs }
    },

    spendToken(): void {
      if (perMinute !== NO_LIMIT) fullAt = Math.max(fullAt, clock.now()) + tokenMs
    },

    /** For a call that did not run after all. */
    returnToken(): void {
      fullAt -= tokenMs
    },

    /** Takes a slot if one is free. */
    take(): boolean {
      if (running >= concurrency) return false
      running++
      return true
    },

    /** Waits for a slot that a call leaves; resolves to why there is none. */
    async acquire({ isCancelled, signal }: CallContext): Promise<Refusal | 'cancelled' | undefined> {
      if (isCancelled) return 'cancelled'
      const { size } = waiting
      if (size >= queue) return full(size === 0 ? '' : `, and ${size} are waiting`)
      return new Promise(resolve => {
        const settle = (outcome?: Refusal | 'cancelled') => {
          timer.cancel()
          waiting.delete(settle)
          signal.removeEventListener('abort', giveUp)
          resolve(outcome)
        }
        const giveUp = () => settle('cancelled')
        const late = () => settle(full(`; no slot was free within ${inSeconds(maxWaitMs)}`))
        const timer = clock.setTimer(late, maxWaitMs)
        waiting.add(settle)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },

    /** Hands the slot over to a waiting call. */
    release(): void {
      const [next] = waiting
      if (next) next()
      else running--
    },
  }
}

function inSeconds(ms: number): string {
  return ms < 1_000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 1_000)} s`
}
