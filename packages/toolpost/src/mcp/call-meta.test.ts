import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import type { ServerRequest } from '../tools/tool.ts'
import type { ServerEntry } from './server-entry.ts'
import { streamableServer } from './test-servers/http-servers.ts'

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
] as const)('over %s', (_title, start, transport) => {
  it('what goes along with a call reaches the server in _meta, and the request is reported', async () => {
    await using server = await start()
    const meta = { ...GIVEN, progressToken: 'of another connection' }
    const { received, requests, status } = await callAndWatch(server.entry, meta, { onProgress: () => {} })
    expect(received).toMatchObject(GIVEN)
    expect(received.progressToken).toBeTypeOf('number')
    const { hostname: host, port } = new URL(server.entry.url ?? 'http://none')
    const address = transport === 'pipe' ? undefined : { host, port: Number(port) }
    const { protocolVersion } = status
    expect(requests).toMatchObject([{ method: 'tools/call', protocolVersion, id: expect.any(Number) }])
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

it('neither the keys of the protocol, nor secrets, malformed traces or long values reach a server', async () => {
  await using server = await over(streamableServer)
  const { received } = await callAndWatch(server.entry, {
    traceparent: PARENT,
    'io.modelcontextprotocol/clientInfo': { name: 'spoofed' },
    'mcp.dev/x': 1,
    'com.mcp.tools/y': 2,
    'api.modelcontextprotocol.org/z': 3,
    progressToken: 1,
    authorization: 'Bearer abc',
    'com.example/api_key': 'k',
  })
  expect(received).toEqual({ traceparent: PARENT })
  const malformed = { traceparent: 'nonsense', tracestate: 'a=b', baggage: 7 }
  expect((await callAndWatch(server.entry, malformed)).received).toEqual({})
  const long = { 'com.example/large': 'x'.repeat(20_000) }
  expect((await callAndWatch(server.entry, long)).received).toEqual({})
})
