import type { ServerResponse } from 'node:http'
import type { Hono } from 'hono'
import type { GatewayContext } from '../gateway-context.ts'
import { busy, EVENT_STREAM_HEADERS, json } from '../http/answers.ts'
import { GREETING_BYTES, MAX_EVENT_CLIENTS } from '../limits.ts'

export function addCallRoutes(app: Hono, context: GatewayContext): void {
  const { journal, events } = context
  app.get('/api/calls', () => json({ calls: journal.records() }))
  app.get('/api/events', c => {
    // Nobody would read, or end, the stream of a HEAD.
    if (c.req.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM_HEADERS })
    if (events.clients >= MAX_EVENT_CLIENTS) return busy('Too many event subscribers')
    const lastEventId = c.req.header('last-event-id')
    // Node's response, if there is one: the only way to cut off a client that does not read.
    const outgoing = (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing
    const stream = events.watch({
      lastEventId,
      greeting: greeting(context, lastEventId !== undefined),
      cut: outgoing && (() => outgoing.destroy()),
    })
    return new Response(stream, { headers: EVENT_STREAM_HEADERS })
  })
}

/** For a new client the servers as they are; for one that was away too long, the last calls too. */
function greeting({ source, journal }: GatewayContext, wasHere: boolean): { type: string; data: unknown }[] {
  const servers = { type: 'servers', data: { servers: source.status().servers } }
  const approvals = { type: 'approvals', data: { approvals: source.approvals?.list() ?? [] } }
  if (!wasHere) return [servers, approvals]
  const calls = journal.latest(GREETING_BYTES).map(record => ({ type: 'call', data: record }))
  return [servers, approvals, { type: 'tools', data: {} }, ...calls]
}
