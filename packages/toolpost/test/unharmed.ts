import { Agent, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { vi } from 'vitest'
import { besideAttack } from '../../../tests/beside.ts'
import { ToolExecutor } from '../src/executor/tool-executor.ts'
import { createGateway, type Gateway } from '../src/gateway/gateway.ts'
import { createHttpServer } from '../src/gateway/serve-gateway.ts'
import { defineTool } from '../src/tools/tool.ts'
import { ToolManager } from '../src/tools/tool-manager.ts'

/** What is attacked: an executor, or a gateway. */
export interface Attacked {
  executor: ToolExecutor
  fetch?: Gateway['fetch']
}

// On a busy machine, attacks take longer and are repeated.
vi.setConfig({ testTimeout: 90_000 })

const calm = defineTool({
  name: 'calm',
  description: 'A tool beside',
  schema: { type: 'object' },
  handler: () => 'calm',
})

/**
 * Runs an attack while another tool is called and `GET /healthz` is asked, over a real port; throws if that felt it.
 * Both go to what is attacked, or to an executor and a gateway of their own in the same process.
 */
export async function unharmed<T>(attack: () => Promise<T>, attacked: Attacked = bystander()): Promise<T> {
  const { executor } = attacked
  if (!executor.tools.findTool('calm')) executor.tools.addCustomTool(calm)
  await using gateway = await listening(attacked)
  return await besideAttack({
    attack,
    probe: () => Promise.all([executor.execute('calm'), gateway.isHealthy()]),
  })
}

const bystander = (): Attacked => ({ executor: new ToolExecutor(new ToolManager()) })

/** Listens for a gateway; one is made for an executor that has none. */
async function listening({ executor, fetch }: Attacked) {
  const own = fetch ? undefined : createGateway({ executor })
  const answer = fetch ?? own?.fetch
  const server = createHttpServer()
  // Else it would close the connection of a probe that a freeze kept waiting.
  server.keepAliveTimeout = 0
  server.on(
    'request',
    getRequestListener((request, env) => answer?.(request, env) as Promise<Response>),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  return {
    isHealthy: () => expectHealth(port, agent),
    async [Symbol.asyncDispose]() {
      agent.destroy()
      server.close()
      await own?.close({ drainMs: 0 })
    },
  }
}

function expectHealth(port: number, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage) => {
      response.resume().on('end', resolve)
      if (response.statusCode !== 200) reject(new Error(`/healthz answered ${response.statusCode}`))
    }
    get({ port, agent, host: '127.0.0.1', path: '/healthz' }, answered).on('error', reject)
  })
}
