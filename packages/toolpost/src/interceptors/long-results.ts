import type { Interceptor } from '../executor/chain.ts'
import type { BigResults } from '../tools/results/big-results.ts'

/** Origins whose results a model or a person reads; results of the program's own calls are left alone. */
const ORIGINS = new Set<string | undefined>(['chat', 'mcp', 'http', 'voice'])

/** Keeps results that are too long for a model, so that everyone who sees the call can find the whole text. */
export function longResults(results: BigResults): Interceptor {
  return function longResults(call, next) {
    if (!ORIGINS.has(call.origin) || call.dryRun) return next()
    const { caller, conversation } = call
    return next().then(result => results.keep(result, { caller, conversation }))
  }
}
