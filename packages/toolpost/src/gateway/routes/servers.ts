import type { Hono } from 'hono'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json } from '../http/answers.ts'

export function addServerRoutes(app: Hono, { servers, calls }: GatewayContext): void {
  const find = (name: string) => servers.status().find(server => server.name === name)
  app.get('/api/servers', () => json({ servers: servers.status() }))
  app.post('/api/servers/:name/restart', async c => {
    const name = c.req.param('name')
    if (calls.isDraining) return failure(503, 'Toolpost is shutting down')
    if (!find(name)) return failure(404, `There is no server '${name}'`)
    await servers.restart(name)
    return json({ server: find(name) })
  })
}
