import type { ServerResponse } from 'node:http'
import type { Hono } from 'hono'
import type { GatewayContext } from '../gateway-context.ts'
import { EVENT_STREAM_HEADERS, json } from '../http/answers.ts'

export function addCallRoutes(app: Hono, context: GatewayContext): void {
  const { journal, events } = context
  app.get('/api/calls', () => json({ calls: journal.records() }))
  app.get('/api/events', c => {
    const lastEventId = c.req.header('last-event-id')
    // Node's response, where there is one: the only way to be rid of a client that does not read.
    const outgoing = (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing
    const stream = events.watch({
      lastEventId,
      greeting: greeting(context, lastEventId !== undefined),
      cut: outgoing && (() => outgoing.destroy()),
    })
    return new Response(stream, { headers: EVENT_STREAM_HEADERS })
  })
}

/** For somebody new the servers as they are; for somebody who was away too long, everything. */
function greeting({ source, journal }: GatewayContext, wasHere: boolean): { type: string; data: unknown }[] {
  const now = { type: 'servers', data: { servers: source.status().servers } }
  if (!wasHere) return [now]
  const calls = journal.records().map(record => ({ type: 'call', data: record }))
  return [now, { type: 'tools', data: {} }, ...calls]
}
