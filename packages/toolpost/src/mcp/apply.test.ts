import { describe, expect, it } from 'vitest'
import { closedGate, gatedServer } from '../../test/gated-server.ts'
import { isRunning, startServers } from '../../test/hostile-server/harness.ts'

const PATIENCE = { interval: 10, timeout: 15_000 }

const gone = (pid: number | undefined) => expect.poll(() => isRunning(pid ?? 0), PATIENCE).toBe(false)

describe('servers whose configuration changes', () => {
  it('start if they are new, end if they are gone, and are not touched if they are the same', async () => {
    const [kept, old, added] = [gatedServer('kept'), gatedServer('old', '', 'x'), gatedServer('new', '', 'y')]
    await using servers = await startServers({ kept, old })
    const pids = servers.mcp.status().map(({ pid }) => pid)
    const tool = servers.tools.findTool('label')
    const told: string[] = []
    servers.mcp.on('server', ({ name, state }) => told.push(`${name} ${state}`))
    servers.mcp.apply({ servers: { kept: { ...kept }, added } })
    expect(servers.tools.findTool('x')).toBeUndefined()
    await servers.mcp.ready()
    expect(servers.mcp.status()).toMatchObject([
      { name: 'kept', state: 'ready', pid: pids[0] },
      { name: 'added', state: 'ready' },
    ])
    expect(servers.tools.findTool('label')).toBe(tool)
    expect(servers.tools.findTool('y')).toBeDefined()
    expect(told).toContain('old closed')
    await gone(pids[1])
  })

  it('[F59] let calls under way end on the old server, while new ones go to the new', async () => {
    const gate = closedGate()
    await using servers = await startServers({ s: gatedServer('old', gate.path) })
    const { pid } = servers.status('s')
    const underWay = servers.executor.execute('wait')
    await gate.reached('old')
    servers.mcp.apply({ servers: { s: gatedServer('new', gate.path) } })
    // The tools are there all the time, and a call waits for the server to come.
    expect(await servers.executor.execute('label')).toBe('new')
    expect(isRunning(pid ?? 0)).toBe(true)
    gate.open()
    expect(await underWay).toBe('old')
    await gone(pid)
    expect(await servers.executor.execute('wait')).toBe('new')
  })

  it('wait for a call no longer than its deadline, and for none when everything is closed', async () => {
    const gate = closedGate()
    await using servers = await startServers({
      s: gatedServer('old', gate.path),
      t: gatedServer('other', gate.path),
    })
    const [first, second] = servers.mcp.status().map(({ pid }) => pid)
    const call = servers.executor.run({ name: 'wait' }, { timeoutMs: 2_000 })
    const other = servers.executor.run({ name: 't__wait' })
    await Promise.all([gate.reached('old'), gate.reached('other')])
    servers.mcp.apply({ servers: {} })
    expect(await call).toMatchObject({ code: 'timeout' })
    await gone(first)
    expect(isRunning(second ?? 0)).toBe(true)
    await servers.mcp.close()
    expect(await other).toMatchObject({ code: 'unavailable' })
    expect(isRunning(second ?? 0)).toBe(false)
  })
})
