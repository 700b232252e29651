import { HistoryError } from '../../history/database.ts'
import { type CallQuery, FilterError, parseQuery } from '../../history/query.ts'
import type { StoredCall } from '../../history/stored-call.ts'
import type { CallRecord } from '../api-types.ts'
import type { Client } from '../clients.ts'
import type { GatewayContext } from '../context.ts'
import { type App, busy, content, failure, json, noContent } from '../http.ts'

/** Past and running calls. */
export function addCallRoutes(app: App, { recent }: GatewayContext): void {
  app.get('/api/calls', c => {
    const given = c.req.query()
    const client = c.env.client
    // Without parameters: the last calls, and the running ones.
    if (Object.keys(given).length === 0)
      return json({ calls: recent.list().filter(call => client.sees(call)) })
    return answered(async () => {
      const page = await recent.history().list(queryOf(client, given))
      return json({ ...page, calls: page.calls.map(recordOf) })
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
      const call = await recent.history().get(serial)
      if (call && client.sees(call)) return json(recordOf(call))
      return failure(404, `There is no call ${serial}, or it is no longer kept`)
    })
  })
  app.delete('/api/calls/:serial', c => {
    const serial = c.req.param('serial')
    const call = recent.get(serial)
    if (call && c.env.client.sees(call) && recent.cancel(serial)) return noContent()
    return failure(404, `Call ${serial} is not running`)
  })

  /** All matching calls as JSON lines, page by page, at the client's pace. */
  async function exported(client: Client, { format = 'jsonl', ...filter }: Record<string, string>) {
    if (format !== 'jsonl') throw new FilterError(`invalid format '${format}'; expected jsonl`)
    const unfit = ['limit', 'cursor'].find(name => name in filter)
    if (unfit) throw new FilterError(`'${unfit}' is not supported here: all matching calls are exported`)
    const texts = recent.history().export(queryOf(client, filter))
    // Fails here, and not in the stream, if the history cannot be read.
    const first = await texts.next()
    const pieces = async function* () {
      if (!first.done) yield Buffer.from(first.value)
      for await (const text of texts) yield Buffer.from(text)
    }
    return content(ReadableStream.from(pieces()) as ReadableStream, {
      'content-type': 'application/jsonl; charset=utf-8',
      'content-disposition': 'attachment; filename="calls.jsonl"',
    })
  }

  /** A call from the history, in the format of the recent ones. */
  function recordOf({ rule, approval, traceId, ...call }: StoredCall): CallRecord {
    const { waited_ms: waitedMs } = call.result
    const traceUrl = recent.traceUrl(traceId)
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

/** A named client only gets its own calls, whatever it asks for. */
function queryOf(client: Client, given: Record<string, string>): CallQuery {
  const query = parseQuery(given)
  return client.isNamed ? { ...query, caller: client.name } : query
}
