import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import type { ServerRequest } from '../tools/tool.ts'
import type { ServerEntry } from './server-entry.ts'
import { modernServer, streamableServer } from './test-servers/http-servers.ts'

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const stdio = (...args: string[]): ServerEntry => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('./test-servers/sdk-v2.mjs', import.meta.url)), ...args],
})

async function callAndWatch(entry: ServerEntry, meta?: Record<string, unknown>, options = {}) {
  await using servers = await startServers({ server: entry })
  const requests: ServerRequest[] = []
  servers.executor.use((call, next) => {
    call.onRequest = request => void requests.push(request)
    return next()
  })
  const result = await servers.executor.run({ name: 'meta' }, { meta, ...options })
  if (!result.success) throw new Error(result.error)
  return { received: JSON.parse(String(result.result)), requests, status: servers.status() }
}

const GIVEN = {
  traceparent: PARENT,
  tracestate: 'vendor=1',
  baggage: 'user=ada',
  'com.example/tenant': { id: 7 },
}

describe.each([
  ['stdio', async () => ({ entry: stdio(), [Symbol.asyncDispose]: async () => {} }), 'pipe'],
  [
    'stdio, newest protocol',
    async () => ({ entry: stdio('modern'), [Symbol.asyncDispose]: async () => {} }),
    'pipe',
  ],
  ['Streamable HTTP of 2025', () => over(streamableServer), 'tcp'],
  ['the newest HTTP', () => over(modernServer), 'tcp'],
] as const)('over %s', (_title, start, transport) => {
  it('what goes along with a call reaches the server in _meta', async () => {
    await using server = await start()
    const { received } = await callAndWatch(server.entry, GIVEN)
    expect(received).toMatchObject(GIVEN)
  })

  it('progress is asked for beside it', async () => {
    await using server = await start()
    const { received } = await callAndWatch(
      server.entry,
      { ...GIVEN, progressToken: 'of another connection' },
      { onProgress: () => {} },
    )
    expect(received).toMatchObject(GIVEN)
    expect(received.progressToken).toBeTypeOf('number')
  })

  it('an interceptor that asks is told of the request', async () => {
    await using server = await start()
    const { requests, status } = await callAndWatch(server.entry)
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({ method: 'tools/call', protocolVersion: status.protocolVersion })
    expect(String(requests[0]?.id)).toMatch(/^\d+$/)
    const { hostname: host, port } = new URL(server.entry.url ?? 'http://none')
    const address = transport === 'pipe' ? undefined : { host, port: Number(port) }
    expect(requests[0]?.address).toEqual(address)
  })
})

async function over(start: typeof streamableServer) {
  const server = await start()
  return {
    entry: { url: server.url } as ServerEntry,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

it('a session is named if there is one', async () => {
  await using server = await over(streamableServer)
  const { requests } = await callAndWatch(server.entry)
  expect(requests[0]?.sessionId).toMatch(/^[\da-f-]{36}$/)
})

describe('what must not reach a server', () => {
  it.each([
    ['what the protocol says there', { 'io.modelcontextprotocol/clientInfo': { name: 'spoofed' } }],
    ['its other prefixes', { 'mcp.dev/x': 1, 'com.mcp.tools/y': 2, 'api.modelcontextprotocol.org/z': 3 }],
    ['the progress of another connection', { progressToken: 1 }],
    ['what is named like a secret', { authorization: 'Bearer abc', 'com.example/api_key': 'k' }],
    ['a malformed trace', { traceparent: 'nonsense', tracestate: 'a=b', baggage: 7 }],
    ['more than a little', { 'com.example/large': 'x'.repeat(20_000) }],
  ])('is %s', async (_title, meta) => {
    await using server = await over(streamableServer)
    const { received } = await callAndWatch(server.entry, { traceparent: PARENT, ...meta })
    expect(received).toEqual('traceparent' in meta ? {} : { traceparent: PARENT })
  })

  it('is nothing at all if nothing goes along', async () => {
    expect((await callAndWatch(stdio())).received).toEqual({})
  })

  it('a listener that fails costs no call', async () => {
    await using servers = await startServers({ server: stdio() })
    servers.executor.use((call, next) => {
      call.onRequest = () => {
        throw new Error('boom')
      }
      return next()
    })
    expect(await servers.executor.run({ name: 'meta' })).toMatchObject({ success: true })
    expect(servers.log.messages('warn')).toContain('onRequest failed')
  })
})
