import { HistoryError } from '../../history/database.ts'
import { EXPORT_FORMATS, type ExportFormat, exportText } from '../../history/export-text.ts'
import type { History } from '../../history/history.ts'
import { type CallPage, type CallQuery, FilterError, parseQuery, searchCalls } from '../../history/query.ts'
import type { StoredCall } from '../../history/stored-call.ts'
import type { CallRecord } from '../api-types.ts'
import { approvalsFor, sees, serversFor, viewOf } from '../client-view.ts'
import type { Client } from '../clients.ts'
import type { GatewayContext, GatewaySource } from '../context.ts'
import { type App, busy, EVENT_STREAM_HEADERS, failure, headerOf, json, textStream } from '../http.ts'
import { GREETING_BYTES } from '../limits.ts'

/** Past and running calls, and the events. */
export function addCallRoutes(app: App, context: GatewayContext): void {
  const { recent, events, clients, streams } = context
  app.get('/api/calls', c => {
    const given = c.req.query()
    const client = c.get('client')
    // Without parameters: the last calls, and the running ones.
    if (Object.keys(given).length === 0)
      return json({ calls: recent.list().filter(call => sees(client, call)) })
    return answered(async () => json(await pageFor(context, queryOf(client, given))))
  })
  // One route: Hono's fast router takes no `/api/calls/export` beside `/api/calls/:serial`.
  app.get('/api/calls/:serial', c => {
    const serial = c.req.param('serial')
    if (serial === 'export') return answered(() => exported(context, c.get('client'), c.req.query()))
    return answered(() => oneCall(context, c.get('client'), serial))
  })
  app.delete('/api/calls/:serial', c => {
    const serial = c.req.param('serial')
    const call = recent.get(serial)
    if (call && sees(c.get('client'), call) && recent.cancel(serial))
      return new Response(null, { status: 204 })
    return failure(404, `Call ${serial} is not running`)
  })
  app.get('/api/events', c => {
    // Nobody would read or end the stream of a HEAD request.
    if (c.req.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM_HEADERS })
    if (streams.areFull) return busy('Too many event subscribers')
    const client = c.get('client')
    // Node's response, if there is one: the only way to cut off a client that does not read.
    const { outgoing } = c.env ?? {}
    const stream = events.watch({
      greeting: greeting(context, client, headerOf(c, 'last-event-id') !== undefined),
      view: viewOf(client, () => clients.named(client.key)),
      cut: outgoing && (() => outgoing.destroy()),
      onEnd: streams.add(),
    })
    return new Response(stream, { headers: EVENT_STREAM_HEADERS })
  })
}

/** The current state; for a client that was here before, the last calls too. */
function greeting({ source, recent, questions }: GatewayContext, client: Client, wasHere: boolean) {
  const state = [
    { type: 'servers', data: { servers: serversFor(client, source.status().servers) } },
    { type: 'approvals', data: { approvals: approvalsFor(client, source.approvals?.list() ?? []) } },
    { type: 'questions', data: { questions: questions.list().filter(question => sees(client, question)) } },
  ]
  if (!wasHere) return state
  const seen = recent.latest(GREETING_BYTES).filter(call => sees(client, call))
  return [...state, { type: 'tools', data: {} }, ...seen.map(data => ({ type: 'call', data }))]
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

type EndedCall = CallRecord & StoredCall

/** A call from the history, in the format of the recent ones. */
function recordOf({ source, recent }: GatewayContext, stored: StoredCall): EndedCall {
  const { rule, approval, traceId, ...call } = stored
  const traceUrl = traceUrlOf(source, traceId)
  const notes = {
    ...(rule && { rule }),
    ...(approval !== undefined && { approval }),
    ...(traceId && { trace_id: traceId }),
  }
  const { waited_ms: waitedMs } = call.result
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

async function pageFor(context: GatewayContext, query: CallQuery): Promise<CallPage<CallRecord>> {
  const history = historyOf(context)
  if (!history) return searchCalls(endedCalls(context), query)
  const { calls, ...rest } = await history.list(query)
  return { calls: calls.map(call => recordOf(context, call)), ...rest }
}

function endedCalls({ recent }: GatewayContext): EndedCall[] {
  return recent.list().filter((call): call is EndedCall => call.result !== undefined)
}

async function oneCall(context: GatewayContext, client: Client, serial: string): Promise<Response> {
  const recent = context.recent.get(serial)
  if (recent && sees(client, recent)) return json(recent)
  const call = await historyOf(context)?.get(serial)
  return call && sees(client, call)
    ? json(recordOf(context, call))
    : failure(404, `There is no call ${serial}, or it is no longer kept`)
}

const EXPORT_TYPES: Record<ExportFormat, string> = {
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
}

/** All matching calls, page by page, at the client's pace. */
async function exported(
  context: GatewayContext,
  client: Client,
  { format: given = 'jsonl', ...filter }: Record<string, string>,
): Promise<Response> {
  const format = EXPORT_FORMATS.find(each => each === given)
  if (!format)
    throw new FilterError(`invalid format '${given}'; expected one of ${EXPORT_FORMATS.join(', ')}`)
  for (const name of ['limit', 'cursor'])
    if (name in filter)
      throw new FilterError(`'${name}' is not supported here: all matching calls are exported`)
  const query = queryOf(client, filter)
  const texts = historyOf(context)?.export(query, format) ?? recentTexts(context, query, format)
  return textStream(texts, {
    'content-type': EXPORT_TYPES[format],
    'content-disposition': `attachment; filename="calls.${format}"`,
  })
}

async function* recentTexts(
  context: GatewayContext,
  query: CallQuery,
  format: ExportFormat,
): AsyncGenerator<string, void> {
  const all = endedCalls(context)
  yield exportText(searchCalls(all, { ...query, limit: all.length + 1 }).calls, format, true)
}
