import { HistoryError } from '../../history/database.ts'
import type { History } from '../../history/history.ts'
import { type CallQuery, FilterError, parseQuery, searchCalls } from '../../history/query.ts'
import { jsonLines, type StoredCall } from '../../history/stored-call.ts'
import type { CallRecord } from '../api-types.ts'
import type { Client } from '../clients.ts'
import type { GatewayContext, GatewaySource } from '../context.ts'
import { type App, busy, content, failure, json } from '../http.ts'

type EndedCall = CallRecord & StoredCall

/** Past and running calls: in the history if there is one, else those in memory. */
export function addCallRoutes(app: App, context: GatewayContext): void {
  const { recent } = context
  const ended = () => recent.list().filter((call): call is EndedCall => call.result !== undefined)
  app.get('/api/calls', c => {
    const given = c.req.query()
    const client = c.env.client
    // Without parameters: the last calls, and the running ones.
    if (Object.keys(given).length === 0)
      return json({ calls: recent.list().filter(call => client.sees(call)) })
    return answered(async () => {
      const query = queryOf(client, given)
      const page = await historyOf(context)?.list(query)
      if (!page) return json(searchCalls(ended(), query))
      return json({ ...page, calls: page.calls.map(call => recordOf(context, call)) })
    })
  })
  // One route: Hono's fast router takes no `/api/calls/export` beside `/api/calls/:serial`.
  app.get('/api/calls/:serial', c => {
    const client = c.env.client
    const serial = c.req.param('serial')
    if (serial === 'export') return answered(() => exported(client, c.req.query()))
    return answered(async () => {
      const known = recent.get(serial)
      if (known && client.sees(known)) return json(known)
      const call = await historyOf(context)?.get(serial)
      if (call && client.sees(call)) return json(recordOf(context, call))
      return failure(404, `There is no call ${serial}, or it is no longer kept`)
    })
  })
  app.delete('/api/calls/:serial', c => {
    const serial = c.req.param('serial')
    const call = recent.get(serial)
    if (call && c.env.client.sees(call) && recent.cancel(serial)) return new Response(null, { status: 204 })
    return failure(404, `Call ${serial} is not running`)
  })

  /** All matching calls as JSON lines, page by page, at the client's pace. */
  async function exported(client: Client, { format = 'jsonl', ...filter }: Record<string, string>) {
    if (format !== 'jsonl') throw new FilterError(`invalid format '${format}'; expected jsonl`)
    for (const name of ['limit', 'cursor'])
      if (name in filter)
        throw new FilterError(`'${name}' is not supported here: all matching calls are exported`)
    const query = queryOf(client, filter)
    const all = ended()
    const found = () => searchCalls(all, { ...query, limit: all.length + 1 }).calls
    const texts = historyOf(context)?.export(query)
    // Fails here, and not in the stream, if the history cannot be read.
    const first = texts ? await texts.next() : { done: false, value: jsonLines(found()) }
    const pieces = async function* () {
      const encoder = new TextEncoder()
      if (!first.done) yield encoder.encode(first.value as string)
      for await (const text of texts ?? []) yield encoder.encode(text)
    }
    return content(ReadableStream.from(pieces()) as ReadableStream, {
      'content-type': 'application/jsonl; charset=utf-8',
      'content-disposition': 'attachment; filename="calls.jsonl"',
    })
  }
}

/** A malformed query is the caller's mistake; an unreadable file is not. */
async function answered(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof HistoryError) return busy(error.message)
    if (!(error instanceof FilterError)) throw error
    return failure(400, error.message.charAt(0).toUpperCase() + error.message.slice(1))
  }
}

/** The history, if there is one and it is readable. One that is being opened is waited for. */
function historyOf({ source }: GatewayContext): History | undefined {
  const history = source.history?.()
  const { state } = history?.status() ?? {}
  return state === 'open' || state === 'opening' ? history : undefined
}

/** A named client only gets its own calls, whatever it asks for. */
function queryOf(client: Client, given: Record<string, string>): CallQuery {
  const query = parseQuery(given)
  return client.isNamed ? { ...query, caller: client.name } : query
}

/** A call from the history, in the format of the recent ones. */
function recordOf({ source, recent }: GatewayContext, stored: StoredCall): EndedCall {
  const { rule, approval, traceId, ...call } = stored
  const { waited_ms: waitedMs } = call.result
  const traceUrl = traceUrlOf(source, traceId)
  const notes = {
    ...(rule && { rule }),
    ...(approval !== undefined && { approval }),
    ...(traceId && { trace_id: traceId }),
  }
  return {
    ...call,
    slow: recent.isSlow(call.durationMs - (waitedMs ?? 0)),
    ...(traceUrl !== undefined && { traceUrl }),
    ...(waitedMs !== undefined && { waitedMs }),
    ...(Object.keys(notes).length > 0 && { notes }),
  }
}

/** Where to see the trace of a call, if it has one and `trace.url` is configured. */
export function traceUrlOf({ config }: GatewaySource, traceId: unknown): string | undefined {
  const { url } = config?.trace || {}
  if (url === undefined || typeof traceId !== 'string' || !/^[\w-]{1,64}$/.test(traceId)) return undefined
  return url.replaceAll('{traceId}', traceId)
}
