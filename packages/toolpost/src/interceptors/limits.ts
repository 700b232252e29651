import type { ToolFailure } from '../call/tool-result.ts'
import { cancelled } from '../executor/failure.ts'
import type { InterceptedCall, Interceptor } from '../executor/intercept.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { Gate } from './limits/gate.ts'
import type { LimitOptions } from './limits/limit.ts'
import { type LimitRules, LimitTable } from './limits/limit-table.ts'
import { limited, refusal } from './refuse.ts'

export type { LimitOptions }

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

/** Limits how many calls run at the same time and how many start per minute. Throws on an invalid limit. */
export function limits(options: LimitsOptions = {}): Interceptor {
  const { tools = {}, servers = {}, callers = {}, clock = systemClock } = options
  const table = new LimitTable({ tools, servers, callers }, clock)
  const gate = new Gate(clock)
  return async function limits(call, next) {
    if (call.failure) return next()
    const needed = table.of(call)
    if (needed.length === 0) return next()
    const entry = gate.enter(needed, call.signal)
    const refused = entry instanceof Promise ? await entry : entry
    if (refused === 'cancelled') return givenUp(call)
    if (refused) {
      call.notes.limit = refused.limit.name
      return limited(call, refused.reason, refused.retryAfterMs)
    }
    const since = clock.now()
    try {
      // The caller may have given up between getting its slot and its turn.
      return call.signal?.aborted ? givenUp(call) : await next()
    } finally {
      gate.leave(needed, clock.now() - since)
    }
  }
}

function givenUp(call: InterceptedCall): ToolFailure {
  const { code, error } = cancelled(call.name)
  return refusal(call, code, error)
}
