import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { dataOf } from '../../test/gateway.ts'
import { isRunning } from '../../test/hostile-server/harness.ts'
import { eventsIn, hostileServer, pidsIn } from '../../test/hostile-server/hostile-server.ts'
import { type RunningGateway, startUp } from '../../test/up.ts'

const { folder, configFile, toolpost } = commandLine()

/** Starts it on a port of its own and waits for its first word. */
function up(config: object) {
  const file = configFile({ model: 'offline', ...config })
  return startUp(folder, { words: ['--config', file] })
}

const call = ({ ask }: RunningGateway, tool: string, args: object = {}) =>
  dataOf(ask(`api/tools/${tool}/call`, { method: 'POST', body: JSON.stringify(args) }))

const PATIENCE = { interval: 20, timeout: 15_000 }

/** Resolves when a server is there: on a busy machine that is after the first word. */
const ready = ({ url }: RunningGateway) =>
  expect.poll(async () => (await dataOf(fetch(`${url}healthz`))).servers.ready, PATIENCE).toBe(1)

describe('toolpost up', () => {
  it('says what is there, what is not and why, and goes on connecting', async () => {
    const mcpServers = {
      good: hostileServer({ label: 'good', tools: [{ name: 'lamp', inputSchema: { type: 'object' } }] }),
      dumb: hostileServer({ hangs: true }),
      broken: { command: 'no-such-command-anywhere' },
    }
    await using running = await up({ mcpServers, mcp: { retry: { attempts: 1 } } })
    expect(running.out()).toMatch(/^✔ local .*datetime/m)
    expect(running.out()).toMatch(/^(✔ good +ready, 1 tool: lamp|… good +still starting)$/m)
    expect(running.out()).toMatch(/^… dumb +still starting$/m)
    expect(running.out()).toMatch(
      /^(✘ broken +failed after 1 attempt: .*no-such-command-anywhere|… broken +still starting)/m,
    )
    expect(running.out()).toMatch(
      /^(✔ chat +offline: set in the configuration|… chat +still looking for a model)$/m,
    )
    expect(running.out()).toContain(`MCP      ${running.url}mcp`)
    await ready(running)
    expect(await call(running, 'lamp')).toMatchObject({ success: true, result: 'good lamp' })
    expect(await (await fetch(`${running.url}healthz`)).json()).toMatchObject({
      servers: { ready: 1, failed: 1, starting: 1 },
    })
  })

  it('[F40] waits for a call under way after SIGTERM, exits 0 and leaves no process', async () => {
    const journal = join(folder, 'drain-journal')
    await using running = await up({ mcpServers: { hostile: hostileServer({ journal }) } })
    await ready(running)
    const lines = () => eventsIn(journal)
    const answer = call(running, 'stuck')
    await expect.poll(() => lines().includes('call stuck'), PATIENCE).toBe(true)
    running.child.kill('SIGTERM')
    await expect.poll(() => running.err(), PATIENCE).toContain('Waiting for 1 call in flight')
    expect(running.child.exitCode).toBeNull()
    running.child.kill('SIGINT')
    expect(await answer).toMatchObject({ success: false, code: 'cancelled' })
    expect(await running.exit).toBe(0)
    const pids = pidsIn(journal)
    expect(pids.filter(isRunning)).toEqual([])
  })

  it('[F41] refuses another host without a token that somebody chose: said, exit 2, nothing started', async () => {
    const journal = join(folder, `never-${crypto.randomUUID()}`)
    const config = configFile({ mcpServers: { hostile: hostileServer({ journal }) } })
    const words = ['up', '--config', config, '--port', '0', '--host', '0.0.0.0']
    const { code, out, err } = await toolpost(words)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/Listening on 0\.0\.0\.0 .*set a token with TOOLPOST_TOKEN, --token or "gateway"/)
    expect(() => readFileSync(journal)).toThrow('ENOENT')
  })
})
