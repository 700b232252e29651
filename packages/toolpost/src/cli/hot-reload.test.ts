import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { COMMAND } from '../../test/command.ts'
import { configFolder, writeFiles } from '../../test/config-folder.ts'
import { closedGate, gatedServer } from '../../test/gated-server.ts'
import { dataOf } from '../../test/gateway.ts'
import { startUp } from '../../test/up.ts'

const PATIENCE = { interval: 20, timeout: 30_000 }
// Each starts several programs, and some machines are busy.
vi.setConfig({ testTimeout: 120_000 })
const isLinux = existsSync('/proc/self/stat')

/** `toolpost up` in a folder of its own. */
async function up(config: object) {
  const folder = configFolder({ 'toolpost.json': { model: 'offline', ...config } })
  const running = await startUp(folder)
  const { ask, err } = running
  const servers = async (): Promise<{ name: string; state: string; pid: number }[]> =>
    (await dataOf(ask('api/servers'))).servers
  const states = async () => (await servers()).map(({ name, state }) => `${name} ${state}`)
  return {
    ...{ folder, servers },
    rewrite: (next: object) => writeFiles(folder, { 'toolpost.json': { model: 'offline', ...next } }),
    says: (text: string | RegExp) => expect.poll(err, PATIENCE).toMatch(text),
    /** Resolves when exactly these are ready. */
    ready: (...names: string[]) => expect.poll(states, PATIENCE).toEqual(names.map(name => `${name} ready`)),
    call: async (tool: string) =>
      (await dataOf(ask(`api/tools/${tool}/call`, { method: 'POST', body: '{}' }))).result,
    [Symbol.asyncDispose]: running[Symbol.asyncDispose],
  }
}

describe('toolpost up follows its configuration', () => {
  it('[F59] starts what was added, restarts what changed, ends what was removed, and touches nothing else', async () => {
    const [a, b] = [gatedServer('a'), gatedServer('b')]
    await using toolpost = await up({ mcpServers: { a, b } })
    await toolpost.ready('a', 'b')
    const before = await toolpost.servers()
    toolpost.rewrite({ mcpServers: { a, b: { ...b, env: { X: '1' } }, c: gatedServer('c', '', 'extra') } })
    await toolpost.says('Configuration reloaded: added c; restarted b')
    await toolpost.ready('a', 'b', 'c')
    const after = await toolpost.servers()
    expect(after[0]?.pid).toBe(before[0]?.pid)
    expect(after[1]?.pid).not.toBe(before[1]?.pid)
    expect(await toolpost.call('extra')).toBe('c')
    toolpost.rewrite({ mcpServers: { a } })
    await toolpost.ready('a')
  })

  it('[F59] keeps the old state on a mistake, a half-written file and no file; the next good save works', async () => {
    const a = gatedServer('a')
    await using toolpost = await up({ mcpServers: { a } })
    await toolpost.ready('a')
    const [{ pid } = {}] = await toolpost.servers()
    const file = join(toolpost.folder, 'toolpost.json')
    writeFileSync(file, '{\n  "mcpServers": { "a":')
    await toolpost.says(/❌ toolpost\.json:2:23: is not JSON: .*; the configuration stays as it was/)
    rmSync(file)
    await toolpost.says(/❌ toolpost\.json: file not found; the configuration stays as it was/)
    expect(await toolpost.servers()).toMatchObject([{ state: 'ready', pid }])
    // As many editors save: written beside, and renamed.
    writeFileSync(`${file}.tmp`, JSON.stringify({ mcpServers: { a, b: gatedServer('b') } }))
    renameSync(`${file}.tmp`, file)
    await toolpost.ready('a', 'b')
    expect((await toolpost.servers())[0]?.pid).toBe(pid)
  })

  it('[F59] lets calls under way end', async () => {
    const gate = closedGate()
    await using toolpost = await up({ mcpServers: { a: gatedServer('old', gate.path) } })
    await toolpost.ready('a')
    const call = toolpost.call('wait')
    await gate.reached('old')
    toolpost.rewrite({ mcpServers: { a: gatedServer('new', gate.path) } })
    await expect.poll(() => toolpost.call('label'), PATIENCE).toBe('new')
    gate.open()
    expect(await call).toBe('old')
  })
})

describe.skipIf(!isLinux)('a Toolpost that is its own server', () => {
  it('[F59] is started once, refuses, and says why', async () => {
    const itself = { command: process.execPath, args: [COMMAND, 'serve', '--stdio'] }
    const mcp = { retry: { attempts: 1 } }
    await using toolpost = await up({ mcpServers: { itself, a: gatedServer('a') }, mcp })
    await toolpost.says(/stderr: Error: .*toolpost\.json lists this Toolpost as one of its own servers/)
    expect(await toolpost.servers()).toMatchObject([{ state: 'failed' }, { name: 'a' }])
  })
})
