import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'

const PATIENCE = { interval: 10, timeout: 10_000 }
const cached = { ttlMs: 0, cacheScope: 'private' }
const now = new Date(0).toISOString()
const task = { taskId: 'one', createdAt: now, lastUpdatedAt: now, ttlMs: null, pollIntervalMs: 100 }

/** A server of the newest protocol by hand, whose only task can outlive its restarts. */
async function restartingServer() {
  const seen: string[] = []
  let state: 'working' | 'completed' | 'forgotten' = 'working'
  const result = { content: [{ type: 'text', text: 'done' }] }
  const answers: Record<string, () => object> = {
    'server/discover': () => ({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      ...cached,
    }),
    'tools/list': () => ({
      tools: [{ name: 'long', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
      ...cached,
    }),
    'tools/call': () => ({ ...task, resultType: 'task', status: 'working' }),
    'tasks/get': () => ({ ...task, status: state, ...(state === 'completed' && { result }) }),
    'tasks/cancel': () => ({}),
  }
  let http: Server
  let port = 0
  const start = () =>
    new Promise<void>(resolve => {
      http = createServer(async (request, response) => {
        let body = ''
        for await (const chunk of request) body += chunk
        const { id, method } = JSON.parse(body || '{}')
        seen.push(method)
        const answer = answers[method]?.()
        const isKnown = answer && !(method === 'tasks/get' && state === 'forgotten')
        const outcome = isKnown
          ? { result: { resultType: 'complete', ...answer } }
          : { error: { code: -32602, message: 'Task not found' } }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
      }).listen(port, '127.0.0.1', () => {
        port = (http.address() as AddressInfo).port
        resolve()
      })
    })
  const stop = () =>
    new Promise<void>(resolve => {
      http.close(() => resolve())
      http.closeAllConnections()
    })
  await start()
  return {
    url: `http://127.0.0.1:${port}/`,
    count: (method: string) => seen.filter(each => each === method).length,
    start,
    stop,
    become: (next: typeof state) => {
      state = next
    },
    [Symbol.asyncDispose]: stop,
  }
}

describe('a server that restarts in the middle of a task', () => {
  it('[F64] and still knows it gives its result; the tool is not called again', async () => {
    await using server = await restartingServer()
    await using client = await startServers({ remote: { url: server.url } })
    const call = client.executor.run({ name: 'long' }, { timeoutMs: 30_000 })
    await vi.waitFor(() => expect(server.count('tasks/get')).toBeGreaterThan(1), PATIENCE)
    await server.stop()
    await vi.waitFor(() => expect(client.status().state).not.toBe('ready'), PATIENCE)
    server.become('completed')
    await server.start()
    expect(await call).toMatchObject({ success: true, result: 'done' })
    expect(server.count('tools/call')).toBe(1)
  })

  it('[F64] and has forgotten it leaves the outcome unknown, also that of a tool that only reads', async () => {
    await using server = await restartingServer()
    await using client = await startServers({ remote: { url: server.url } })
    const call = client.executor.run({ name: 'long' }, { timeoutMs: 30_000 })
    await vi.waitFor(() => expect(server.count('tasks/get')).toBeGreaterThan(1), PATIENCE)
    await server.stop()
    await vi.waitFor(() => expect(client.status().state).not.toBe('ready'), PATIENCE)
    server.become('forgotten')
    await server.start()
    expect(await call).toMatchObject({
      code: 'unavailable',
      error: expect.stringContaining('the outcome of the call is unknown'),
    })
    expect(server.count('tools/call')).toBe(1)
  })
})
