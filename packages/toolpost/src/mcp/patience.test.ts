import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { harnessFor, startServers } from '../../test/hostile-server/harness.ts'
import { fakeClock } from '../testing/fake-clock.ts'

type Refusal = [status: number, headers: Record<string, string>]

/** An MCP server that can be told to refuse everything, or calls alone, and counts what it hears. */
async function moodyServer() {
  const mood: {
    all?: Refusal | undefined
    calls?: Refusal
    session?: string
    forgotten?: number
    body?: string
  } = {}
  const heard: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params } = JSON.parse(body)
    heard.push(method)
    const { 'mcp-session-id': session = mood.session } = request.headers
    if (session !== mood.session) return void response.writeHead(mood.forgotten ?? 404).end()
    const refusal = method === 'tools/call' ? (mood.calls ?? mood.all) : mood.all
    if (refusal) return void response.writeHead(refusal[0], refusal[1]).end(mood.body)
    answer(response, id, resultOf(method, params), mood.session)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    mood,
    heard,
    count: (method: string) => heard.filter(each => each === method).length,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function resultOf(method: string, params: { protocolVersion?: string }): object | undefined {
  const { protocolVersion } = params ?? {}
  const serverInfo = { name: 'moody', version: '1' }
  const tools = ['read', 'write'].map(name => ({
    name,
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: name === 'read' },
  }))
  const results: Record<string, object> = {
    initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
    ping: {},
  }
  return results[method]
}

function answer(response: ServerResponse, id: unknown, result: object | undefined, session?: string): void {
  if (id === undefined) return void response.writeHead(202).end()
  const headers = { 'content-type': 'application/json', ...(session && { 'mcp-session-id': session }) }
  const error = { code: -32_601, message: 'unknown method' }
  response
    .writeHead(200, headers)
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }))
}

/** The milliseconds until a server is tried again, as its status says. */
function waitOf({ nextAttemptAt }: { nextAttemptAt: string | undefined }): number {
  return Date.parse(nextAttemptAt ?? '') - Date.now()
}

describe('a server that has failed', () => {
  it('is tried again after a minute, then two, and is ready as soon as it is there', async () => {
    await using server = await moodyServer()
    server.mood.all = [500, {}]
    const clock = fakeClock()
    await using client = harnessFor({ remote: { url: server.url } }, { clock, retry: { attempts: 1 } })
    await client.mcp.ready()
    await client.log.logged('attempt 1 failed, next one in 60000 ms')
    expect(client.status()).toMatchObject({ state: 'failed', attempts: 1 })
    expect(waitOf(client.status())).toBeGreaterThan(50_000)
    await clock.advance(60_000)
    await client.log.logged('attempt 2 failed, next one in 120000 ms')
    expect(client.log.messages('error')).toEqual(['MCP connection failed after 1 attempt'])
    server.mood.all = undefined
    await clock.advance(120_000)
    await client.log.logged('MCP connection succeeded on attempt 3')
    expect(await client.executor.execute('read')).toBe('done')
  })
})

describe('a server that asks for time', () => {
  it.each([
    ['seconds', () => '120'],
    ['a date', () => new Date(Date.now() + 120_000).toUTCString()],
  ])('gets it before the next attempt to connect: %s', async (_, after) => {
    await using server = await moodyServer()
    server.mood.all = [503, { 'retry-after': after() }]
    const clock = fakeClock()
    await using client = harnessFor({ remote: { url: server.url } }, { clock })
    await client.log.logged('attempt 1 failed')
    expect(waitOf(client.status())).toBeGreaterThan(100_000)
    server.mood.all = undefined
    await clock.advance(60_000)
    expect(client.log.messages()).not.toContain('attempt 2')
    await clock.advance(61_000)
    await client.log.logged('MCP connection succeeded on attempt 2')
  })

  it('does not get a day', async () => {
    await using server = await moodyServer()
    server.mood.all = [429, { 'retry-after': '86400' }]
    await using client = harnessFor({ remote: { url: server.url } }, { clock: fakeClock() })
    await client.log.logged('attempt 1 failed')
    expect(waitOf(client.status())).toBeLessThanOrEqual(600_000)
  })

  it('tells a call so: 429 leaves the connection, 503 does not', async () => {
    await using server = await moodyServer()
    await using client = await startServers({ remote: { url: server.url } })
    server.mood.calls = [429, { 'retry-after': '30' }]
    expect(await client.executor.run({ name: 'read' })).toMatchObject({
      code: 'tool_error',
      error: 'HTTP 429 Too Many Requests',
      retry_after_ms: 30_000,
    })
    expect(client.status().state).toBe('ready')
    server.mood.calls = [503, { 'retry-after': '30' }]
    expect(await client.executor.run({ name: 'write' })).toMatchObject({
      code: 'unavailable',
      retry_after_ms: 30_000,
    })
    await vi.waitFor(() => expect(waitOf(client.status())).toBeGreaterThan(20_000))
    expect(server.count('tools/call')).toBe(2)
  })
})

it('only the header counts: a time in the text of an answer is not obeyed', async () => {
  await using server = await moodyServer()
  await using client = await startServers({ remote: { url: server.url } })
  server.mood.calls = [429, {}]
  server.mood.body = 'Come back later (retry after 600 s)'
  const result = await client.executor.run({ name: 'read' })
  expect(result).toMatchObject({ code: 'tool_error', error: expect.stringContaining('(retry after 600 s)') })
  expect(result).not.toHaveProperty('retry_after_ms')
})

describe('a session that the server has forgotten', () => {
  it.each([404, 410])('%i: a new one is begun; a read is repeated, a write is not', async status => {
    await using server = await moodyServer()
    Object.assign(server.mood, { session: 'one', forgotten: status })
    await using client = await startServers({ remote: { url: server.url, trust: true } })
    server.mood.session = 'two'
    expect(await client.executor.execute('read')).toBe('done')
    await vi.waitFor(() => expect(client.status().state).toBe('ready'))
    server.mood.session = 'three'
    const calls = server.count('tools/call')
    expect(await client.executor.run({ name: 'write' })).toMatchObject({
      code: 'unavailable',
      error: 'The remote service is unavailable: session expired on the server',
    })
    expect(server.count('tools/call')).toBe(calls + 1)
  })
})
