import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isRunning, startServers } from '../../test/hostile-server/harness.ts'

const require = createRequire(import.meta.url)
const program = (file: string, ...args: string[]) => ({ command: process.execPath, args: [file, ...args] })

describe('@modelcontextprotocol/server-everything', () => {
  it('is listed, called, cancelled and restarted', async () => {
    await using server = await startServers({
      everything: program(require.resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'),
    })
    const { executor, mcp } = server
    const { pid = 0, tools } = server.status()
    expect(tools.length).toBeGreaterThanOrEqual(10)
    expect(await executor.execute('echo', { message: 'hello' })).toBe('Echo: hello')
    expect(await executor.execute('get-sum', { a: 2, b: 3 })).toContain('5')
    const long = { name: 'trigger-long-running-operation', args: { duration: 0.2, steps: 4 } }
    const seen: number[] = []
    await executor.run(long, { onProgress: ({ progress }) => void seen.push(progress) })
    expect(seen).toEqual([1, 2, 3, 4])
    const caller = new AbortController()
    const cancelled = executor.run({ ...long, args: { duration: 600, steps: 1 } }, { signal: caller.signal })
    await executor.execute('echo', { message: 'so that it is under way' })
    caller.abort()
    expect(await cancelled).toMatchObject({ code: 'cancelled' })

    await mcp.restart('everything')
    expect(isRunning(pid)).toBe(false)
    expect(await executor.execute('echo', { message: 'again' })).toBe('Echo: again')
  })
})

describe('servers of every age', () => {
  it('HTTP+SSE of 2024, found by itself', async () => {
    const file = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')
    const port = String(await freePort())
    const child = spawn(process.execPath, [file, 'sse'], { env: { ...process.env, PORT: port } })
    try {
      await once(child.stderr, 'data')
      await using server = await startServers({ old: { url: `http://127.0.0.1:${port}/sse` } })
      expect(server.status()).toMatchObject({ state: 'ready' })
      expect(await server.executor.execute('echo', { message: 'hello' })).toBe('Echo: hello')
    } finally {
      child.kill('SIGKILL')
    }
  })

  it.each([
    ['SDK v2', [], '2025-11-25'],
    ['SDK v2 with nothing but the newest protocol', ['modern'], '2026-07-28'],
  ])('%s', async (_, args, protocolVersion) => {
    await using server = await startServers({
      v2: program(fileURLToPath(new URL('./test-servers/sdk-v2.mjs', import.meta.url)), ...args),
    })
    expect(server.status()).toMatchObject({ state: 'ready', attempts: 1, protocolVersion })
    expect(await server.executor.execute('echo', { text: 'hello' })).toBe('hello')
    const seen: number[] = []
    await server.executor.run(
      { name: 'progress' },
      { onProgress: ({ progress }) => void seen.push(progress) },
    )
    expect(seen).toEqual([1, 2])
    expect(await server.executor.run({ name: 'never' }, { timeoutMs: 50 })).toMatchObject({ code: 'timeout' })
    await expect.poll(() => server.status().stderr).toContain('was cancelled')
    await server.executor.execute('add_tool')
    await expect.poll(() => server.tools.findTool('added')?.name).toBe('added')
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}
