import { fileURLToPath } from 'node:url'
import {
  type ClientCapabilities,
  Client as ClientV2,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { McpIntegration } from '../mcp/index.ts'
import type { Question } from '../tools/caller.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { OpenQuestion } from './api-types.ts'
import { type ServedGateway, serveGateway } from './serve-gateway.ts'

const PATIENCE = { interval: 10, timeout: 15_000 }
const file = fileURLToPath(new URL('../mcp/test-servers/addresses.mjs', import.meta.url))
const tools = new ToolManager()
const executor = new ToolExecutor(tools)
const mcp = new McpIntegration({ servers: { bank: { command: process.execPath, args: [file] } } })
let gateway: ServedGateway
beforeAll(async () => {
  mcp.start(tools)
  await mcp.ready()
  gateway = await serveGateway({ token: false, port: 0, executor, mcp })
})
afterAll(async () => {
  await gateway.close({ drainMs: 0 })
  await mcp.close()
})

type ElicitationCapability = NonNullable<ClientCapabilities['elicitation']>

/** A client, and what it was asked. */
async function connect(elicitation: ElicitationCapability) {
  const client = new ClientV2(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation } },
  )
  const asked: Record<string, unknown>[] = []
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params)
    return { action: 'accept' }
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}mcp`)))
  const call = (name: string) => client.callTool({ name, arguments: {} })
  return { asked, call, [Symbol.asyncDispose]: () => client.close() }
}

describe('an address that a server wants visited before a call', () => {
  it('is shown by a client of the newest protocol, which has no such error', async () => {
    await using client = await connect({ url: {}, form: {} })
    const { isError, content } = await client.call('before')
    expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining('call again')])
    expect(client.asked).toMatchObject([{ mode: 'url', url: 'https://login.example/start' }])
  })

  it('is left out if it is not a web page', async () => {
    const asked: Question[] = []
    const ask = async (question: Question) => {
      asked.push(question)
      return { action: 'accept' as const }
    }
    const result = await executor.run({ name: 'lies' }, { ask })
    expect(result).toMatchObject({ success: false })
    expect(JSON.stringify(result)).not.toContain('javascript')
    expect(asked).toEqual([])
  })
})

describe('an address that a server wants visited during a call', () => {
  it('is given up when the server dies', async () => {
    const aborted: Promise<void>[] = []
    const ask = ({ signal }: Question) => {
      const end = new Promise<void>(resolve => signal?.addEventListener('abort', () => resolve()))
      aborted.push(end)
      return end.then(() => ({ action: 'cancel' as const }))
    }
    expect(await executor.run({ name: 'dies' }, { ask })).toMatchObject({ code: 'unavailable' })
    expect(aborted).toHaveLength(1)
    await aborted[0]
    await expect.poll(() => mcp.status()[0]?.state, PATIENCE).toBe('ready')
  })

  it('is answered in the console by being done', async () => {
    const headers = { prefer: 'questions' }
    const post = (name: string) =>
      fetch(`${gateway.url}api/tools/${name}/call`, { method: 'POST', body: '{}', headers })
    const called = post('during')
    const open = async (): Promise<OpenQuestion[]> => {
      const { questions } = (await (await fetch(`${gateway.url}api/questions`)).json()) as {
        questions: OpenQuestion[]
      }
      return questions
    }
    await expect.poll(open, PATIENCE).toMatchObject([{ url: 'https://login.example/start', server: 'bank' }])
    await post('finish')
    expect(await (await called).text()).toContain('accept')
    expect(await open()).toEqual([])
  })
})
