import { describe, expect, it } from 'vitest'
import { dataOf, executorOf, newestRequest, PATIENCE, testGateway, toolNamed } from '../../test/gateway.ts'
import { type HostileHarness, startHostile } from '../../test/hostile-server/harness.ts'
import { CLIENTS, connectV1 } from '../../test/mcp-clients.ts'
import { RpcError } from '../mcp/peer.ts'
import type { Tool } from '../tools/tool.ts'
import { type ServedGateway, type ServeOptions, serveGateway } from './serve-gateway.ts'

type Served = ServedGateway & AsyncDisposable

async function serve(options: ServeOptions): Promise<Served> {
  const served = await serveGateway({ token: false, port: 0, ...options })
  return { ...served, [Symbol.asyncDispose]: () => served.close({ drainMs: 0 }) }
}

async function serveLocal(...tools: Tool[]): Promise<Served> {
  return serve({ executor: executorOf(...tools) })
}

function cancelled(hostile: HostileHarness): Promise<void> {
  return expect.poll(() => hostile.count('cancelled'), PATIENCE).toBe(1)
}

describe.each(CLIENTS)('a client of the %s, with a stdio server behind', (name, connect) => {
  it('lists the tools with their descriptions, schemas and annotations', async () => {
    await using hostile = await startHostile()
    await using gateway = await serve({ executor: hostile.executor, mcp: hostile.mcp })
    await using client = await connect(gateway)
    expect(client.protocol).toMatch(name.includes('newest') ? /^2026-/ : /^2025-/)
    const tools = await client.tools()
    expect(tools).toHaveLength(hostile.tools.getTools().length)
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      description: 'Gives back its text',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      annotations: { readOnlyHint: true },
    })
    expect(tools.find(({ name }) => name === 'die')).toMatchObject({ annotations: { destructiveHint: true } })
  })

  it('calls one, and gets what the server answered as it answered it', async () => {
    await using hostile = await startHostile()
    await using gateway = await serve({ executor: hostile.executor, mcp: hostile.mcp })
    await using client = await connect(gateway)
    expect(await client.call('echo', { text: 'hi' })).toMatchObject({
      content: [{ type: 'text', text: 'hi' }],
    })
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
    const content = [{ type: 'text', text: 'look' }, image]
    expect((await client.call('answer', { result: { content } })).content).toMatchObject(content)
    const structured = { content: [{ type: 'text', text: 'five' }], structuredContent: { n: 5 } }
    expect(await client.call('answer', { result: structured })).toMatchObject(structured)
  })

  it('[F06] cancels a call, down to the server behind', async () => {
    await using hostile = await startHostile()
    await using gateway = await serve({ executor: hostile.executor, mcp: hostile.mcp })
    await using client = await connect(gateway)
    const stop = new AbortController()
    const call = client.call('never', {}, { signal: stop.signal })
    await expect.poll(() => hostile.count('call never'), PATIENCE).toBe(1)
    stop.abort()
    await expect(call).rejects.toThrow()
    await cancelled(hostile)
  })

  it('gets valid output schemas and what fits them; an invalid one spoils nothing', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const counting = (name: string, more: object) => ({ ...toolNamed(name, () => ({ n: 5 })), ...more })
    await using gateway = await serveLocal(
      counting('good', { title: 'Good', outputSchema }),
      counting('bad', { outputSchema: { type: 'object', properties: { n: { type: 'no' } } } }),
      counting('worse', { outputSchema: { $ref: '#/nowhere', type: 'object' } }),
    )
    await using client = await connect(gateway)
    const [good, bad, worse] = await client.tools()
    expect(good).toMatchObject({ title: 'Good', outputSchema })
    expect(bad.outputSchema).toBeUndefined()
    expect(worse.outputSchema).toBeUndefined()
    expect(await client.call('good')).toMatchObject({ structuredContent: { n: 5 } })
    expect(await client.call('bad')).toMatchObject({ content: [{ text: '{"n":5}' }] })
  })
})

const slowEcho = toolNamed('slow_echo', async args => {
  await new Promise(resolve => setImmediate(resolve))
  return (args as { text?: string }).text
})

describe('many clients at once', () => {
  it.each(CLIENTS)('[F38] with equal request ids each get their own answers: %s', async (_name, connect) => {
    await using gateway = await serveLocal(slowEcho)
    const clients = await Promise.all(Array.from({ length: 20 }, () => connect(gateway)))
    const answers = await Promise.all(
      clients.flatMap((client, at) =>
        Array.from({ length: 5 }, async (_, call) => {
          const text = `${at}/${call}`
          const { content } = await client.call('slow_echo', { text })
          return [text, content[0].text]
        }),
      ),
    )
    for (const [asked, answered] of answers) expect(answered).toBe(asked)
    await Promise.all(clients.map(client => client[Symbol.asyncDispose]()))
  })
})

describe('an upstream error "missing required client capability"', () => {
  const data = { requiredCapabilities: { elicitation: {} } }

  it('reaches clients of the newest protocol as it is', async () => {
    const needy = toolNamed('needy', () => {
      throw new RpcError('Needs elicitation', { code: -32_021, data })
    })
    await using gateway = testGateway([needy])
    const { body, headers } = newestRequest('tools/call', { name: 'needy' })
    const passedOn = await gateway.post('/mcp', body, { headers })
    expect(passedOn.status).toBe(400)
    expect(await dataOf(passedOn)).toMatchObject({
      error: { code: -32_021, message: 'Needs elicitation', data },
    })
  })
})

describe('a request by hand', () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (url: string, body: unknown, more: Record<string, string> = {}) =>
    fetch(`${url}mcp`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  it('that makes no sense is answered and harms nothing', async () => {
    await using gateway = await serveLocal(slowEcho)
    const { url } = gateway
    expect(
      (await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-session-id': 'gone' })).status,
    ).toBe(404)
    expect((await post(url, `"${'x'.repeat(11_000_000)}"`)).status).toBe(413)
    for (const body of ['null', '5', '"x"', '[]']) expect((await post(url, body)).status).toBe(400)
    expect((await fetch(`${url}mcp`)).status).toBe(405)
    expect((await fetch(`${url}mcp`, { method: 'POST', body: '{}' })).status).toBe(415)
    await using client = await connectV1({ url })
    expect(await client.tools()).toHaveLength(1)
  })

  it('[F37] of a foreign page is refused', async () => {
    await using gateway = await serveLocal(slowEcho)
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    expect((await post(gateway.url, list, { origin: 'http://localhost:9' })).status).toBe(403)
  })
})
