import type { ServerResponse } from 'node:http'
import type { Hono } from 'hono'
import { HistoryError } from '../../history/database.ts'
import { EXPORT_FORMATS, type ExportFormat, exportText } from '../../history/export-text.ts'
import type { History } from '../../history/history.ts'
import { type CallPage, type CallQuery, FilterError, parseQuery, searchCalls } from '../../history/query.ts'
import type { StoredCall } from '../../history/stored-call.ts'
import { myTurn } from '../../runtime/turns.ts'
import type { CallRecord } from '../api-types.ts'
import type { Client } from '../client.ts'
import { approvalsFor, sees, serversFor, viewOf } from '../client-view.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { busy, EVENT_STREAM_HEADERS, failure, json, textStream } from '../http/answers.ts'
import { GREETING_BYTES, MAX_EVENT_CLIENTS } from '../limits.ts'
import { traceUrlOf } from '../trace-url.ts'

export function addCallRoutes(app: Hono, context: GatewayContext): void {
  const { journal, events, clients, underWay } = context
  app.get('/api/calls', c => {
    const given = c.req.query()
    const client = clients.of(c.req.raw)
    // Without parameters: the last calls, and the running ones.
    if (Object.keys(given).length === 0)
      return json({ calls: journal.records().filter(call => sees(client, call)) })
    return answered(async () => json(await pageFor(context, queryOf(client, given))))
  })
  app.get('/api/calls/export', c => answered(() => exported(context, clients.of(c.req.raw), c.req.query())))
  app.get('/api/calls/:serial{[0-9a-f-]+}', c =>
    answered(() => oneCall(context, clients.of(c.req.raw), c.req.param('serial'))),
  )
  app.delete('/api/calls/:serial{[0-9a-f-]+}', c => {
    const serial = c.req.param('serial')
    const client = clients.of(c.req.raw)
    const isSeen = journal.records().some(call => call.serial === serial && sees(client, call))
    if (isSeen && underWay.cancel(serial)) return new Response(null, { status: 204 })
    return failure(404, `Call ${serial} is not running`)
  })
  app.get('/api/events', async c => {
    // Nobody would read or end the stream of a HEAD request.
    if (c.req.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM_HEADERS })
    // One at a time: thousands may connect at once.
    await myTurn(events)
    if (events.clients >= MAX_EVENT_CLIENTS) return busy('Too many event subscribers')
    const client = clients.of(c.req.raw)
    const lastEventId = c.req.header('last-event-id')
    // Node's response, if there is one: the only way to cut off a client that does not read.
    const outgoing = (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing
    const stream = events.watch({
      lastEventId,
      greeting: greeting(context, client, lastEventId !== undefined),
      view: viewOf(client, () => clients.named(client.key)),
      cut: outgoing && (() => outgoing.destroy()),
    })
    return new Response(stream, { headers: EVENT_STREAM_HEADERS })
  })
}

type Greeting = { type: string; data: unknown }[]

/** A malformed query is the caller's mistake; an unreadable file is not. */
async function answered(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof FilterError) return failure(400, sentence(error.message))
    if (error instanceof HistoryError) return busy(error.message)
    throw error
  }
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
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

/** A call from the history, in the journal's format. */
function recordOf({ source, journal }: GatewayContext, stored: StoredCall): EndedCall {
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
    slow: journal.isSlow(call.durationMs - (waitedMs ?? 0)),
    ...(traceUrl !== undefined && { traceUrl }),
    ...(waitedMs !== undefined && { waitedMs }),
    ...(Object.keys(notes).length > 0 && { notes }),
  }
}

async function pageFor(context: GatewayContext, query: CallQuery): Promise<CallPage<CallRecord>> {
  const { journal } = context
  const history = historyOf(context)
  if (!history) return searchCalls(ended(journal.records()), query)
  const { calls, ...rest } = await history.list(query)
  return { calls: calls.map(call => recordOf(context, call)), ...rest }
}

type EndedCall = CallRecord & StoredCall

function ended(calls: readonly CallRecord[]): EndedCall[] {
  return calls.filter((call): call is EndedCall => call.result !== undefined)
}

async function oneCall(context: GatewayContext, client: Client, serial: string): Promise<Response> {
  const { journal } = context
  const recent = journal.records().find(call => call.serial === serial && sees(client, call))
  if (recent) return json(recent)
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
  given: Record<string, string>,
): Promise<Response> {
  const { format = 'jsonl', ...filter } = given
  if (!isFormat(format))
    throw new FilterError(`invalid format '${format}'; expected one of ${EXPORT_FORMATS.join(', ')}`)
  for (const name of ['limit', 'cursor'])
    if (name in filter)
      throw new FilterError(`'${name}' is not supported here: all matching calls are exported`)
  const query = queryOf(client, filter)
  const texts = historyOf(context)?.export(query, format) ?? journalTexts(context, query, format)
  return textStream(texts, {
    'content-type': EXPORT_TYPES[format],
    'content-disposition': `attachment; filename="calls.${format}"`,
  })
}

function isFormat(format: string): format is ExportFormat {
  return EXPORT_FORMATS.includes(format as ExportFormat)
}

async function* journalTexts(
  { journal }: GatewayContext,
  query: CallQuery,
  format: ExportFormat,
): AsyncGenerator<string, void> {
  const all = ended(journal.records())
  yield exportText(searchCalls(all, { ...query, limit: all.length + 1 }).calls, format, true)
}

/** For a new client, the current state; for one that was away too long, the last calls too. */
function greeting(
  { source, journal, questions: open }: GatewayContext,
  client: Client,
  wasHere: boolean,
): Greeting {
  const servers = { type: 'servers', data: { servers: serversFor(client, source.status().servers) } }
  const approvals = {
    type: 'approvals',
    data: { approvals: approvalsFor(client, source.approvals?.list() ?? []) },
  }
  const questions = {
    type: 'questions',
    data: { questions: open.list().filter(question => sees(client, question)) },
  }
  if (!wasHere) return [servers, approvals, questions]
  const seen = journal.latest(GREETING_BYTES).filter(call => sees(client, call))
  const calls = seen.map(data => ({ type: 'call', data }))
  return [servers, approvals, questions, { type: 'tools', data: {} }, ...calls]
}
