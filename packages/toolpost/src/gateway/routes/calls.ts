import { type CallQuery, FilterError, parseQuery } from '../../history/query.ts'
import type { Client } from '../clients.ts'
import type { GatewayContext } from '../context.ts'
import { type App, content, json, refusal } from '../http.ts'
import { RECENT_CALLS } from '../limits.ts'

/** Past and running calls. */
export function addCallRoutes(app: App, { log }: GatewayContext): void {
  app.get('/api/calls', async c => {
    const { client } = c.env
    const given = c.req.query()
    // Without parameters: the last calls and the running ones, oldest first.
    const isPlain = Object.keys(given).length === 0
    const query = queryOf(client, isPlain ? { limit: String(RECENT_CALLS) } : given)
    const { calls, ...page } = await log.history().list(query)
    const ended = calls.map(call => log.recordOf(call))
    if (!isPlain) return json({ ...page, calls: ended })
    return json({ calls: [...ended.reverse(), ...log.running().filter(call => client.sees(call))] })
  })
  // One route: Hono's fast router takes no `/api/calls/export` beside `/api/calls/:serial`.
  app.get('/api/calls/:serial', async c => {
    const { client } = c.env
    const serial = c.req.param('serial')
    if (serial === 'export') return exported(client, c.req.query())
    const running = log.find(serial)?.call
    const ended = running ? undefined : await log.history().get(serial)
    const call = running ?? (ended && log.recordOf(ended))
    if (call && client.sees(call)) return json(call)
    throw refusal(404, `There is no call ${serial}, or it is no longer kept`)
  })
  app.delete('/api/calls/:serial', c => {
    const serial = c.req.param('serial')
    const found = log.find(serial)
    if (!found || !c.env.client.sees(found.call)) throw refusal(404, `Call ${serial} is not running`)
    found.cancel()
    return c.body(null, 204)
  })

  /** All matching calls as JSON lines, page by page, at the client's pace. */
  async function exported(client: Client, { format = 'jsonl', ...filter }: Record<string, string>) {
    if (format !== 'jsonl') throw new FilterError(`invalid format '${format}'; expected jsonl`)
    const unfit = ['limit', 'cursor'].find(name => name in filter)
    if (unfit) throw new FilterError(`'${unfit}' is not supported here: all matching calls are exported`)
    const query = queryOf(client, filter)
    const history = log.history()
    // Fails here, and not in the stream, if the history cannot be read.
    await history.list({ ...query, limit: 1 })
    const texts = ReadableStream.from(history.export(query)) as ReadableStream<string>
    return content(texts.pipeThrough(new TextEncoderStream()), {
      'content-type': 'application/jsonl; charset=utf-8',
      'content-disposition': 'attachment; filename="calls.jsonl"',
    })
  }
}

/** A named client only gets its own calls, whatever it asks for. */
function queryOf(client: Client, given: Record<string, string>): CallQuery {
  const query = parseQuery(given)
  return client.isNamed ? { ...query, caller: client.name } : query
}
