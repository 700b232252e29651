import { expect, it } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import type { ServerRequest } from '../tools/tool.ts'
import { streamableServer } from './test-servers/http-servers.ts'

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

/** Calls with `_meta`; resolves to what of it reached the server, and to the request as it was reported. */
async function call(meta: Record<string, unknown>) {
  await using server = await streamableServer()
  await using servers = await startServers({ server: { url: server.url } })
  const requests: ServerRequest[] = []
  servers.executor.use((context, next) => {
    context.onRequest = request => void requests.push(request)
    return next()
  })
  const result = await servers.executor.run({ name: 'meta' }, { meta })
  const received = result.success ? JSON.parse(String(result.result)) : result.error
  return { received, requests, port: Number(new URL(server.url).port) }
}

it('what goes along with a call reaches the server in _meta, and the request is reported', async () => {
  const meta = { traceparent: PARENT, tracestate: 'vendor=1', 'com.example/tenant': { id: 7 } }
  const { received, requests, port } = await call(meta)
  expect(received).toEqual(meta)
  expect(requests).toMatchObject([
    { method: 'tools/call', protocolVersion: '2025-11-25', address: { host: '127.0.0.1', port } },
  ])
})

it('neither the keys of the protocol, nor secrets, malformed traces or long values reach a server', async () => {
  const foreign = {
    'io.modelcontextprotocol/clientInfo': { name: 'spoofed' },
    'com.mcp.tools/y': 2,
    progressToken: 1,
    authorization: 'Bearer abc',
    'com.example/api_key': 'k',
  }
  expect((await call({ traceparent: PARENT, ...foreign })).received).toEqual({ traceparent: PARENT })
  expect((await call({ traceparent: 'nonsense', tracestate: 'a=b', baggage: 7 })).received).toEqual({})
  expect((await call({ 'com.example/large': 'x'.repeat(20_000) })).received).toEqual({})
})
