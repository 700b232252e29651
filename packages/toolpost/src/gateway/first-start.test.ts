import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { configFolder } from '../../test/config-folder.ts'
import { closedGate, lateServer } from '../../test/gated-server.ts'
import { CLIENTS } from '../../test/mcp-clients.ts'
import { silentLogger } from '../logging/logger.ts'
import { openProject } from '../project/open-project.ts'
import { serveGateway } from './serve-gateway.ts'

it.each(CLIENTS)('a call waits for a server that starts for the first time: %s', async (_name, connect) => {
  const gate = closedGate()
  const config = { mcpServers: { mail: lateServer('mail', gate.path) }, history: false }
  const file = join(configFolder({ 'toolpost.json': config }), 'toolpost.json')
  const project = await openProject({ file, logger: () => silentLogger, say: () => {} })
  onTestFinished(() => project.close())
  const gateway = await serveGateway({ project, token: false, port: 0 })
  onTestFinished(() => gateway.close({ drainMs: 0 }))
  const call = (tool: string, headers = {}) =>
    fetch(new URL(`/api/tools/${tool}/call`, gateway.url), { method: 'POST', headers })
  const ready = project.ready()
  await using client = await connect(gateway)
  const calls = Promise.all([call('label').then(answer => answer.json()), client.call('label')])
  expect((await call('unknown', { 'x-timeout-ms': '300' })).status).toBe(404)
  gate.open()
  expect(await calls).toMatchObject([{ result: 'mail' }, { content: [{ text: 'mail' }] }])
  await ready
  expect((await call('unknown')).status).toBe(404)
})
