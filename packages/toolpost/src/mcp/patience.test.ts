import { expect, it, vi } from 'vitest'
import { harnessFor, startServers } from '../../test/hostile-server/harness.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { type Behaviour, httpByHand, json } from './test-servers/http-by-hand.ts'

interface Mood {
  all?: [status: number, headers?: Record<string, string>] | undefined
  calls?: [status: number, headers?: Record<string, string>] | undefined
  body?: string
  session?: string
}

/** A server that can be told to refuse everything, or calls alone. */
async function moodyServer(mood: Mood) {
  const moody =
    (result: (params: { protocolVersion?: string }) => object): Behaviour =>
    ({ message, request, response }) => {
      const { 'mcp-session-id': session = mood.session } = request.headers
      if (session !== mood.session) return void response.writeHead(404).end()
      const refusal = message.method === 'tools/call' ? (mood.calls ?? mood.all) : mood.all
      if (refusal) return void response.writeHead(...refusal).end(mood.body)
      if (mood.session) response.setHeader('mcp-session-id', mood.session)
      json(response, { jsonrpc: '2.0', id: message.id, result: result(message.params ?? {}) })
    }
  const tool = (name: string, readOnlyHint: boolean) => ({
    ...{ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint } },
  })
  return httpByHand(
    moody(() => ({ content: [{ type: 'text', text: 'done' }] })),
    {
      initialize: moody(({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} } })),
      'tools/list': moody(() => ({ tools: [tool('read', true), tool('write', false)] })),
      'server/discover': ({ response }) => void response.writeHead(mood.all?.[0] ?? 400, mood.all?.[1]).end(),
    },
  )
}

/** The milliseconds until a server is tried again, as its status says. */
function waitOf({ nextAttemptAt }: { nextAttemptAt: string | undefined }): number {
  return Date.parse(nextAttemptAt ?? '') - Date.now()
}

it('a server that has failed is tried again, less and less often, and is ready as soon as it is there', async () => {
  const mood: Mood = { all: [500] }
  await using server = await moodyServer(mood)
  const clock = fakeClock()
  await using client = harnessFor({ remote: { url: server.url } }, { clock, retry: { attempts: 1 } })
  await client.mcp.ready()
  await client.log.logged('attempt 1 failed, next one in 2000 ms')
  expect(client.status()).toMatchObject({ state: 'failed', attempts: 1 })
  await clock.advance(2_000)
  await client.log.logged('attempt 2 failed, next one in 4000 ms')
  expect(client.log.messages('error')).toEqual(['MCP connection failed after 1 attempt'])
  mood.all = undefined
  await clock.advance(4_000)
  await client.log.logged('MCP connection succeeded on attempt 3')
  expect(await client.executor.execute('read')).toBe('done')
})

it('a server that asks for time gets it before the next attempt', async () => {
  const mood: Mood = { all: [503, { 'retry-after': new Date(Date.now() + 120_000).toUTCString() }] }
  await using server = await moodyServer(mood)
  const clock = fakeClock()
  await using client = harnessFor({ remote: { url: server.url } }, { clock })
  await client.log.logged('attempt 1 failed')
  expect(waitOf(client.status())).toBeGreaterThan(100_000)
  mood.all = undefined
  await clock.advance(121_000)
  await client.log.logged('MCP connection succeeded on attempt 2')
})

it('a call is told when to come back by the header alone: 429 leaves the connection, 503 does not', async () => {
  const mood: Mood = {}
  await using server = await moodyServer(mood)
  await using client = await startServers({ remote: { url: server.url } })
  mood.calls = [429, { 'retry-after': '30' }]
  expect(await client.executor.run({ name: 'read' })).toMatchObject({
    code: 'tool_error',
    error: 'HTTP 429 Too Many Requests',
    retry_after_ms: 30_000,
  })
  Object.assign(mood, { calls: [429], body: 'Come back later (retry after 600 s)' })
  const result = await client.executor.run({ name: 'read' })
  expect(result).toMatchObject({ code: 'tool_error', error: expect.stringContaining('(retry after 600 s)') })
  expect(result).not.toHaveProperty('retry_after_ms')
  expect(client.status().state).toBe('ready')
  mood.calls = [503, { 'retry-after': '30' }]
  const lost = await client.executor.run({ name: 'write' })
  expect(lost).toMatchObject({ code: 'unavailable', retry_after_ms: 30_000 })
  await vi.waitFor(() => expect(waitOf(client.status())).toBeGreaterThan(20_000))
})

it('a forgotten session is begun anew; a read is repeated, a write is not', async () => {
  const mood: Mood = { session: 'one' }
  await using server = await moodyServer(mood)
  await using client = await startServers({ remote: { url: server.url, trust: true } })
  mood.session = 'two'
  expect(await client.executor.execute('read')).toBe('done')
  await vi.waitFor(() => expect(client.status().state).toBe('ready'))
  mood.session = 'three'
  const calls = server.count('tools/call')
  expect(await client.executor.run({ name: 'write' })).toMatchObject({
    code: 'unavailable',
    error: 'The remote service is unavailable: session expired on the server',
  })
  expect(server.count('tools/call')).toBe(calls + 1)
})
