import { expect, it } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import type { ServerRequest } from '../tools/tool.ts'
import { type Behaviour, httpByHand, json } from './test-servers/http-by-hand.ts'

/** Answers a call with its `_meta`. */
const meta: Behaviour = ({ message: { id, params }, response }) =>
  json(response, { jsonrpc: '2.0', id, result: { content: [], structuredContent: params?._meta ?? {} } })

it('[F34] user and password of an address become a header, and are not shown', async () => {
  await using server = await httpByHand(meta)
  const url = server.url.replace('://', '://me:p%40ss-of-the-address@')
  await using client = await startServers({ remote: { url } })
  expect(await client.executor.run({ name: 'act' })).toMatchObject({ success: true })
  const credentials = `Basic ${Buffer.from('me:p@ss-of-the-address').toString('base64')}`
  expect(new Set(server.seen.map(({ headers }) => headers.authorization))).toEqual(new Set([credentials]))
  expect(JSON.stringify([client.log.records, client.status()])).not.toContain('ss-of-the-address')
})

it('a server that goes is lost at the next call, and comes back by itself', async () => {
  const server = await httpByHand(meta)
  await using client = await startServers({ remote: { url: server.url } })
  await server[Symbol.asyncDispose]()
  expect(await client.executor.run({ name: 'act' })).toMatchObject({
    code: 'unavailable',
    error: expect.stringMatching(/^The remote service is unavailable: /),
  })
  expect(client.status().state).not.toBe('ready')
  await using _again = await httpByHand(meta, {}, Number(new URL(server.url).port))
  await client.log.logged('MCP connection succeeded', 2)
  expect(await client.executor.run({ name: 'act' })).toMatchObject({ success: true })
})

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

it('what goes along with a call reaches the server in _meta, but nothing of the protocol and no secrets', async () => {
  await using server = await httpByHand(meta)
  await using client = await startServers({ remote: { url: server.url } })
  const requests: ServerRequest[] = []
  client.executor.use((context, next) => {
    context.onRequest = request => void requests.push(request)
    return next()
  })
  const received = async (given: Record<string, unknown>) =>
    client.executor.run({ name: 'act' }, { meta: given }).then(result => result.success && result.result)
  const own = { traceparent: PARENT, tracestate: 'vendor=1', 'com.example/tenant': { id: 7 } }
  const foreign = {
    'io.modelcontextprotocol/clientInfo': { name: 'spoofed' },
    'com.mcp.tools/y': 2,
    progressToken: 1,
    authorization: 'Bearer abc',
    'com.example/api_key': 'k',
  }
  expect(await received({ ...own, ...foreign })).toEqual(own)
  expect(await received({ traceparent: 'nonsense' })).toEqual({})
  const address = { host: '127.0.0.1', port: Number(new URL(server.url).port) }
  expect(requests[0]).toMatchObject({ method: 'tools/call', protocolVersion: '2025-11-25', address })
})
