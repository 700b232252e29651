import { join } from 'node:path'
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { Approvals, type ApprovalsOptions, policy } from '../interceptors/index.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { packageRoot } from '../util/package-root.ts'
import { type ServeOptions, serveGateway } from './serve-gateway.ts'

interface Asked {
  message: string
  signal: AbortSignal
}

/** The person at the client; without one, the client cannot show a question. */
type Person = (asked: Asked) => Promise<unknown>

interface AnyClient {
  // biome-ignore lint/suspicious/noExplicitAny: two SDKs, two types of the same result
  call(name: string, args?: object, options?: { signal?: AbortSignal }): Promise<any>
  [Symbol.asyncDispose](): Promise<void>
}

/** Where the server is: an address, or a configuration to serve over stdio. */
type Target = { url: string; token?: string } | { config: string }
type Connect = (target: Target, person?: Person) => Promise<AnyClient>

const info = { name: 'test', version: '1' }
const PATIENCE = { interval: 10, timeout: 15_000 }
const COMMAND = join(packageRoot(), 'bin', 'toolpost.cjs')
const served = (config: string) => ({
  command: process.execPath,
  args: [COMMAND, 'serve', '--stdio', '--config', config],
  stderr: 'ignore' as const,
})

/** With its token, if it has one. */
function overHttp<Transport>(
  { url, token }: { url: string; token?: string },
  Http: new (url: URL, options: { requestInit: RequestInit }) => Transport,
): Transport {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  return new Http(new URL(`${url}mcp`), { requestInit: { headers } })
}

const connectV1: Connect = async (target, person) => {
  const client = new ClientV1(info, { capabilities: person ? { elicitation: {} } : {} })
  if (person)
    client.setRequestHandler(
      ElicitRequestSchema,
      ({ params }, { signal }) => person({ message: params.message, signal }) as never,
    )
  const transport = 'url' in target ? overHttp(target, HttpV1) : new StdioV1(served(target.config))
  await client.connect(transport as never)
  return {
    call: (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args as never }, CallToolResultSchema, options),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function connectV2(mode: 'legacy' | 'auto'): Connect {
  return async (target, person) => {
    const capabilities = person ? { elicitation: { form: {} } } : {}
    const client = new ClientV2(info, { versionNegotiation: { mode }, capabilities })
    if (person)
      client.setRequestHandler(
        'elicitation/create',
        ({ params }, { mcpReq }) => person({ message: params.message, signal: mcpReq.signal }) as never,
      )
    const transport: Transport =
      'url' in target ? overHttp(target, HttpV2) : new StdioV2(served(target.config))
    await client.connect(transport)
    return {
      call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args as never }, options),
      [Symbol.asyncDispose]: () => client.close(),
    }
  }
}

const CLIENTS_2025: [string, Connect][] = [
  ['SDK v1', connectV1],
  ['SDK v2, 2025 protocol', connectV2('legacy')],
]
const NEWEST: [string, Connect] = ['SDK v2, newest protocol', connectV2('auto')]
const CLIENTS: [string, Connect][] = [...CLIENTS_2025, NEWEST]

/** A gateway with one destructive tool, and how often that ran. */
async function serveDelete(options: ApprovalsOptions = {}, guard: Partial<ServeOptions> = { token: false }) {
  const approvals = new Approvals(options)
  const tools = new ToolManager()
  const runs: unknown[] = []
  tools.addCustomTool(
    defineTool({
      name: 'delete',
      description: 'Deletes a file',
      schema: { type: 'object' } as Record<string, unknown>,
      destructive: true,
      handler: args => {
        runs.push(args)
        return 'deleted'
      },
    }),
  )
  const executor = new ToolExecutor(tools)
  executor.use(policy(undefined, { approvals }))
  const gateway = await serveGateway({ port: 0, executor, approvals, ...guard })
  const close = () => gateway.close({ drainMs: 0 })
  return { url: gateway.url, approvals, runs, [Symbol.asyncDispose]: close }
}

const never = () => new Promise<never>(() => {})
const answering = (action: string): Person => {
  return async () => ({ action, ...(action === 'accept' && { content: {} }) })
}

describe.each(CLIENTS)('a client of the %s that can ask its person', (_name, connect) => {
  it('runs the call once if the person accepts', async () => {
    await using gateway = await serveDelete()
    const asked: string[] = []
    const person: Person = async ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: {} }
    }
    await using client = await connect(gateway, person)
    expect(await client.call('delete', { path: 'a' })).toMatchObject({ content: [{ text: 'deleted' }] })
    expect(asked).toEqual(['Run delete with {"path":"a"}? (the tool is marked as destructive)'])
    expect(gateway.runs).toEqual([{ path: 'a' }])
    expect(gateway.approvals.list()).toEqual([])
    await client.call('delete', { path: 'a' })
    expect(asked).toHaveLength(2)
  })

  it('reads that denied by the user if they decline', async () => {
    await using gateway = await serveDelete()
    await using client = await connect(gateway, answering('decline'))
    expect(await client.call('delete', { path: 'a' })).toMatchObject({
      isError: true,
      content: [{ text: "Tool 'delete' was denied: denied by the user (mcp)" }],
    })
    expect(gateway.runs).toEqual([])
  })

  it.each([
    ['cancels', answering('cancel')],
    ['answers something else', answering('perhaps')],
    ['fails', () => Promise.reject(new Error('no window'))],
  ])('leaves it to others if the person %s', async (_title, person) => {
    await using gateway = await serveDelete({ patienceMs: {} })
    await using client = await connect(gateway, person)
    const answer = client.call('delete', { path: 'a' }).catch(error => error)
    if (connect === NEWEST[1] && _title !== 'cancels') {
      // The SDK's client gives up by itself, and does not come again.
      expect(await answer).toBeInstanceOf(Error)
      return expect(gateway.runs).toEqual([])
    }
    await expect.poll(() => gateway.approvals.list().length, PATIENCE).toBe(1)
    gateway.approvals.decide(gateway.approvals.list()[0]?.id ?? '', 'approve')
    expect(await answer).toMatchObject({ content: [{ text: 'deleted' }] })
    expect(gateway.runs).toHaveLength(1)
  })
})

describe.each(CLIENTS)('a client of the %s that cannot ask its person', (_name, connect) => {
  it('reads that the call waits, and runs it by calling again once it is approved', async () => {
    await using gateway = await serveDelete({ patienceMs: { mcp: 50 } })
    await using client = await connect(gateway)
    const answer = await client.call('delete', { path: 'a' })
    expect(answer).toMatchObject({ isError: true })
    expect(answer.content[0].text).toMatch(/denied: waiting for approval \S+; call again once it is granted/)
    const [waiting] = gateway.approvals.list()
    gateway.approvals.decide(waiting?.id ?? '', 'approve')
    expect(await client.call('delete', { path: 'a' })).toMatchObject({ content: [{ text: 'deleted' }] })
    expect(gateway.runs).toHaveLength(1)
  })
})

describe.each(CLIENTS)('a named client of the %s that can ask its person', (_name, connect) => {
  const OWNER = 'owner-token-0123456789'
  const NAMED = 'named-token-0123456789'
  const serveNamed = (approves: boolean) =>
    serveDelete({ patienceMs: {} }, { token: OWNER, clients: { named: { token: NAMED, approves } } })
  const willing =
    (asked: string[]): Person =>
    async ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: {} }
    }

  it('[F56] does not approve its own call, the owner does', async () => {
    await using gateway = await serveNamed(false)
    const asked: string[] = []
    await using client = await connect({ url: gateway.url, token: NAMED }, willing(asked))
    const answer = client.call('delete', { path: 'a' })
    await expect.poll(() => gateway.approvals.list().length, PATIENCE).toBe(1)
    const [{ id } = { id: '' }] = gateway.approvals.list()
    const decideAs = (token: string) =>
      fetch(`${gateway.url}api/approvals/${id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: '{"decision":"approve"}',
      })
    expect((await decideAs(NAMED)).status).toBe(403)
    expect(gateway.runs).toEqual([])
    expect((await decideAs(OWNER)).status).toBe(200)
    expect(await answer).toMatchObject({ content: [{ text: 'deleted' }] })
    expect(asked).toEqual([])
  })

  it('approves its own call if its entry says so', async () => {
    await using gateway = await serveNamed(true)
    const asked: string[] = []
    await using client = await connect({ url: gateway.url, token: NAMED }, willing(asked))
    expect(await client.call('delete', { path: 'a' })).toMatchObject({ content: [{ text: 'deleted' }] })
    expect(asked).toHaveLength(1)
  })
})

/** A person who answers the first question, and then no more. Version 1 of the SDK cannot cancel a request with the id 0. */
function silentPerson() {
  const asked: Asked[] = []
  const person: Person = question => {
    asked.push(question)
    return asked.length === 1 ? answering('decline')(question) : never()
  }
  return { asked, person }
}

describe.each(CLIENTS_2025)('a question to a client of the %s', (_name, connect) => {
  it('is taken back if somebody else decides first', async () => {
    await using gateway = await serveDelete()
    const { asked, person } = silentPerson()
    await using client = await connect(gateway, person)
    await client.call('delete')
    const answer = client.call('delete')
    await expect.poll(() => asked.length, PATIENCE).toBe(2)
    gateway.approvals.decide(gateway.approvals.list()[0]?.id ?? '', 'approve', { by: 'console' })
    expect(await answer).toMatchObject({ content: [{ text: 'deleted' }] })
    await expect.poll(() => asked[1]?.signal.aborted, PATIENCE).toBe(true)
  })
})

describe('a question that a client of the newest protocol took along', () => {
  /** A `tools/call` of the newest protocol, by hand. */
  async function post(url: string, params: object) {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': info,
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    }
    const response = await fetch(`${url}mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'delete',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'delete', ...params, _meta },
      }),
    })
    const text = await response.text()
    const data = text
      .split('\n')
      .findLast(line => line.startsWith('data:'))
      ?.slice(5)
    const { result, error } = JSON.parse(data ?? text)
    return result ?? error
  }

  it('is answered once, for the very arguments that it was asked about, and by nobody who was not asked', async () => {
    await using gateway = await serveDelete()
    const unasked = { q1: { action: 'accept', content: {} } }
    const made = await post(gateway.url, { arguments: { path: 'a' }, inputResponses: unasked })
    expect(made).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    const { requestState, inputRequests } = made
    const answers = Object.keys(inputRequests).map(key => [key, { action: 'accept', content: {} }])
    const inputResponses = Object.fromEntries(answers)
    const refused = { message: 'This question is no longer open: call again' }
    const forged = { arguments: { path: 'a' }, inputResponses, requestState: 'mine' }
    expect(await post(gateway.url, forged)).toMatchObject(refused)
    const other = await post(gateway.url, { arguments: { path: 'b' }, inputResponses, requestState })
    expect(other).toMatchObject(refused)
    expect(gateway.runs).toEqual([])
    const accepted = await post(gateway.url, { arguments: { path: 'a' }, inputResponses, requestState })
    expect(accepted).toMatchObject({ content: [{ text: 'deleted' }] })
    const again = await post(gateway.url, { arguments: { path: 'a' }, inputResponses, requestState })
    expect(again).toMatchObject(refused)
    expect(gateway.runs).toEqual([{ path: 'a' }])
    expect(gateway.approvals.list()).toEqual([])
  })
})

describe.each(CLIENTS)('toolpost serve --stdio, to a client of the %s', (_name, connect) => {
  const { configFile } = commandLine()
  const config = (more: object = {}) =>
    configFile({
      policy: [{ tools: 'echo', from: ['mcp'], then: 'ask' }],
      tools: [
        {
          name: 'echo',
          description: 'Gives back its arguments',
          parameters: { type: 'object' },
          implementation: { type: 'builtin', handler: 'echo' },
        },
      ],
      ...more,
    })

  it.each([
    ['accept', { content: [{ text: '{"echo":{"x":1}}' }] }],
    ['decline', { isError: true, content: [{ text: "Tool 'echo' was denied: denied by the user (mcp)" }] }],
    [
      'cancel',
      { isError: true, content: [{ text: expect.stringContaining('nobody answered within 0.3 s') }] },
    ],
  ])('takes %s of its person', async (action, expected) => {
    await using client = await connect(
      { config: config(action === 'cancel' ? { approvals: { timeoutMs: 300 } } : {}) },
      answering(action),
    )
    expect(await client.call('echo', { x: 1 })).toMatchObject(expected)
  })

  const denied = "Tool 'echo' was denied: nobody answered within 0.3 s"
  const impatient = () => ({ config: config({ approvals: { timeoutMs: 300 } }) })

  it('denies the call at once if the client cannot ask, with the way to allow it', async () => {
    await using client = await connect({ config: config({}) })
    const text = expect.stringContaining("this MCP client cannot ask you; allow it with a rule in 'policy'")
    expect(await client.call('echo', { x: 1 })).toMatchObject({ isError: true, content: [{ text }] })
  })

  // A client of the newest protocol has its answer already, and asks for as long as it likes.
  it.skipIf(connect === NEWEST[1])(
    'denies the call after a while if the person does not answer',
    async () => {
      await using client = await connect(impatient(), never)
      expect(await client.call('echo', { x: 1 })).toMatchObject({
        isError: true,
        content: [{ text: denied }],
      })
    },
  )
})
