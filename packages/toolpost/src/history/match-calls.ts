import { type CallFilter, type CallPage, type CallQuery, cursorOf, positionOf, wordsOf } from './filter.ts'
import { DEFAULT_LIMIT } from './limits.ts'
import type { StoredCall } from './stored-call.ts'

/** The same query on calls in memory; `calls` is oldest first. */
export function pageOf<Call extends Partial<StoredCall> & { serial: number; startedAt: number }>(
  calls: readonly Call[],
  query: CallQuery,
): CallPage<Call> {
  const { limit = DEFAULT_LIMIT, cursor } = query
  const before = cursor === undefined ? undefined : positionOf(cursor)
  const found = calls
    .filter(call => fits(call, query))
    .sort((a, b) => b.startedAt - a.startedAt || b.serial - a.serial)
    .filter(
      ({ startedAt, serial }) =>
        !before || startedAt < before.time || (startedAt === before.time && serial < before.id),
    )
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    calls: page,
    ...(last && found.length > limit && { next: cursorOf({ time: last.startedAt, id: last.serial }) }),
  }
}

function fits(call: Partial<StoredCall> & { startedAt: number }, query: CallFilter): boolean {
  const { tool, server, caller, origin, trace, outcome, since, until, q } = query
  const { result, startedAt } = call
  return (
    (tool === undefined || call.tool === tool) &&
    (server === undefined || call.source === server) &&
    (caller === undefined || call.caller === caller) &&
    (origin === undefined || call.origin === origin) &&
    (trace === undefined || traceOf(call) === trace) &&
    (outcome === undefined || (result !== undefined && outcomeFits(outcome, result))) &&
    (since === undefined || startedAt >= since) &&
    (until === undefined || startedAt < until) &&
    (q === undefined || hasWords(call, wordsOf(q)))
  )
}

/** Calls of this process have it in their notes. */
function traceOf(call: Partial<StoredCall> & { notes?: Record<string, unknown> }): unknown {
  return call.traceId ?? call.notes?.trace_id
}

function outcomeFits(outcome: string, result: StoredCall['result']): boolean {
  if (outcome === 'ok' || result.success) return outcome === 'ok' && result.success
  return outcome === 'failed' || result.code === outcome
}

function hasWords({ tool, args, result }: Partial<StoredCall>, wanted: readonly string[]): boolean {
  const outcome = result?.success ? result.result : result?.error
  const words = wordsOf(`${tool} ${JSON.stringify(args)} ${JSON.stringify(outcome)}`)
  return wanted.every(one => words.some(word => word.startsWith(one)))
}
