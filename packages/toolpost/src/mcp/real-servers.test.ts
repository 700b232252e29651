import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { isRunning, startServers } from '../../test/hostile-server/harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolpost-real-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fromNpm(name: string, ...args: string[]) {
  const file = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/dist/index.js`)
  return { command: process.execPath, args: [file, ...args] }
}

function ownServer(name: string, ...args: string[]) {
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL(`./test-servers/${name}.mjs`, import.meta.url)), ...args],
  }
}

describe('@modelcontextprotocol/server-everything', () => {
  it('is listed, called, cancelled and restarted', async () => {
    await using server = await startServers({ everything: fromNpm('everything', 'stdio') })
    const { executor, mcp } = server
    const { pid = 0, tools } = server.status()
    expect(tools.length).toBeGreaterThanOrEqual(10)
    expect(await executor.execute('echo', { message: 'hello' })).toBe('Echo: hello')
    expect(await executor.execute('get-sum', { a: 2, b: 3 })).toContain('5')

    const image = { type: 'image', mimeType: 'image/png' }
    expect(await executor.run({ name: 'get-tiny-image' })).toMatchObject({
      result: expect.arrayContaining([expect.objectContaining(image)]),
    })
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

describe('@modelcontextprotocol/server-filesystem and -memory', () => {
  it('work side by side, come back when they are killed, and say what is wrong in their own words', async () => {
    const memory = { ...fromNpm('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } }
    await using server = await startServers({ files: fromNpm('filesystem', folder), memory })
    const { executor } = server
    expect(server.mcp.status().map(({ state }) => state)).toEqual(['ready', 'ready'])
    const path = join(folder, 'note.txt')
    expect(await executor.run({ name: 'write_file', args: { path, content: 'remember' } })).toMatchObject({
      success: true,
    })
    expect(await executor.execute('read_text_file', { path })).toBe('remember')
    const outside = await executor.run({ name: 'read_text_file', args: { path: '/etc/hostname' } })
    expect(outside).toMatchObject({ code: 'tool_error', error: expect.stringMatching(/^Access denied/) })

    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes numbers'] }]
    await executor.run({ name: 'create_entities', args: { entities } })
    process.kill(server.status('memory').pid ?? 0, 'SIGKILL')
    await server.log.logged('MCP connection lost')
    await server.log.logged('MCP connection succeeded', 3)
    expect(JSON.stringify(await executor.run({ name: 'read_graph' }))).toContain('Ada')
  })
})

describe('servers of every age', () => {
  it.each([
    ['SDK v2', [], '2025-11-25'],
    ['SDK v2 with nothing but the newest protocol', ['modern'], '2026-07-28'],
  ])('%s', async (_, args, protocolVersion) => {
    await using server = await startServers({ v2: ownServer('sdk-v2', ...args) })
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
