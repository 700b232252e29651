import type { ServerResponse } from 'node:http'
import type { Hono } from 'hono'
import { approvalsFor, callsFor, serversFor, viewOf } from '../client-view.ts'
import type { Client } from '../clients.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { busy, EVENT_STREAM_HEADERS, json } from '../http/answers.ts'
import { GREETING_BYTES, MAX_EVENT_CLIENTS } from '../limits.ts'

export function addCallRoutes(app: Hono, context: GatewayContext): void {
  const { journal, events, clients } = context
  app.get('/api/calls', c => json({ calls: callsFor(clients.of(c.req.raw), journal.records()) }))
  app.get('/api/events', c => {
    // Nobody would read, or end, the stream of a HEAD.
    if (c.req.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM_HEADERS })
    if (events.clients >= MAX_EVENT_CLIENTS) return busy('Too many event subscribers')
    const client = clients.of(c.req.raw)
    const lastEventId = c.req.header('last-event-id')
    // Node's response, if there is one: the only way to cut off a client that does not read.
    const outgoing = (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing
    const stream = events.watch({
      lastEventId,
      greeting: greeting(context, client, lastEventId !== undefined),
      view: viewOf(client),
      cut: outgoing && (() => outgoing.destroy()),
    })
    return new Response(stream, { headers: EVENT_STREAM_HEADERS })
  })
}

type Greeting = { type: string; data: unknown }[]

/** For a new client the servers as they are; for one that was away too long, the last calls too. */
function greeting({ source, journal }: GatewayContext, client: Client, wasHere: boolean): Greeting {
  const servers = { type: 'servers', data: { servers: serversFor(client, source.status().servers) } }
  const approvals = {
    type: 'approvals',
    data: { approvals: approvalsFor(client, source.approvals?.list() ?? []) },
  }
  if (!wasHere) return [servers, approvals]
  const calls = callsFor(client, journal.latest(GREETING_BYTES)).map(record => ({
    type: 'call',
    data: record,
  }))
  return [servers, approvals, { type: 'tools', data: {} }, ...calls]
}
