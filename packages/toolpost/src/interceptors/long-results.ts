import type { Interceptor } from '../executor/intercept.ts'
import type { BigResults } from '../tools/results/big-results.ts'

/** Whose results a model reads, or the person who watches: those of the program's own code stay what they are. */
const ORIGINS = new Set<string | undefined>(['chat', 'mcp', 'http', 'voice'])

/** Keeps results that are too long for a model, so that everybody who sees the call knows where the whole one is. */
export function longResults(results: BigResults): Interceptor {
  return function longResults(call, next) {
    if (!ORIGINS.has(call.origin)) return next()
    const { caller, conversation } = call
    return next().then(result => results.keep(result, { caller, conversation }))
  }
}
