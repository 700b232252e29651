import type { Hono } from 'hono'
import { ConfigError } from '../../project/config.ts'
import { similarNames } from '../../executor/find.ts'
import { serversFor } from '../client-view.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { GatewayError } from '../gateway-error.ts'
import { failure, json, shuttingDown } from '../http/answers.ts'

export function addServerRoutes(app: Hono, { source, calls, clients }: GatewayContext): void {
  const find = (name: string) => source.status().servers.find(server => server.name === name)
  app.get('/api/servers', c => json({ servers: serversFor(clients.of(c.req.raw), source.status().servers) }))
  const change = (verb: string, action: (name: string) => Promise<void> | undefined) =>
    app.post(`/api/servers/:name/${verb}`, async c => {
      const name = c.req.param('name') ?? ''
      if (clients.of(c.req.raw).isNamed) return failure(403, `Named clients may not ${verb} servers`)
      if (calls.isDraining) return shuttingDown()
      if (!find(name)) {
        const [near] = similarNames(name, source.status().servers)
        return failure(404, `No server '${name}'${near === undefined ? '' : `. Did you mean ${near}?`}`)
      }
      await action(name)
      return json({ server: find(name) })
    })
  change('restart', name => source.restart(name))
  change('start', name => source.restart(name))
  change('stop', name => source.stop?.(name))
  app.post('/api/reload', async c => {
    if (clients.of(c.req.raw).isNamed) return failure(403, 'Named clients may not reload the configuration')
    if (calls.isDraining) return shuttingDown()
    if (!source.reload) return failure(404, 'There is no configuration file to reload')
    try {
      return json(await source.reload())
    } catch (error) {
      if (error instanceof ConfigError || error instanceof GatewayError) return failure(422, error.message)
      throw error
    }
  })
}
