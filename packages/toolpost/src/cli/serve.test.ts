import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { isRunning } from '../../test/hostile-server/harness.ts'
import { eventsIn, hostileServer, pidsIn } from '../../test/hostile-server/hostile-server.ts'
import { type AnyClient, CLIENTS } from '../../test/mcp-clients.ts'

const { folder, configFile, start } = commandLine()

/** A configuration with a hostile server behind, and what happened there. */
function withHostileServer() {
  const journal = join(folder, `journal-${crypto.randomUUID()}`)
  const lines = () => eventsIn(journal)
  return {
    config: configFile({ mcpServers: { hostile: hostileServer({ journal }) } }),
    lines,
    count: (event: string) => lines().filter(line => line === event).length,
    pids: () => pidsIn(journal),
  }
}

const PATIENCE = { interval: 10, timeout: 15_000 }

const namesOf = async (client: AnyClient): Promise<string[]> => (await client.tools()).map(({ name }) => name)

describe.each(CLIENTS)('toolpost serve --stdio, to a client of the %s', (_name, connect) => {
  it('lists local tools and those of servers, calls, reports progress and cancels', async () => {
    const { config, count } = withHostileServer()
    await using client = await connect({ config })
    // On a busy machine the server may come after the first list.
    await expect
      .poll(() => namesOf(client), PATIENCE)
      .toEqual(expect.arrayContaining(['datetime', 'never', 'progress']))
    expect(await client.call('write', {})).toMatchObject({ content: [{ type: 'text' }] })
    // The SDK's clients drop progress that they read together with the answer: a busy one may have to ask again.
    const progressOfACall = async () => {
      const seen: number[] = []
      await client.call('progress', { steps: 3 }, { onprogress: ({ progress }) => seen.push(progress) })
      return seen
    }
    await expect.poll(progressOfACall, PATIENCE).toEqual([1, 2, 3])
    const stop = new AbortController()
    const call = client.call('never', {}, { signal: stop.signal })
    await expect.poll(() => count('call never'), PATIENCE).toBe(1)
    stop.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(() => count('cancelled'), PATIENCE).toBe(1)
  })
})

/** The command with its pipes in hand. */
function raw(words: string[]) {
  const { child, out, exit } = start(['serve', '--stdio', ...words])
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'test', version: '1' }
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  })
  return { child, exit, send, answered: (id: number) => expect.poll(out, PATIENCE).toContain(`"id":${id}`) }
}

it('answers a message that is too large by its id', async () => {
  const { child, send, exit, answered } = raw(['--config', configFile({})])
  send({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x'.repeat(10_000_000) } } })
  await answered(2)
  child.stdin.end()
  await exit
})

describe('the end of toolpost serve --stdio', () => {
  it('[F40] leaves no process behind, whether its input ends or it is told to', async () => {
    for (const end of ['stdin', 'SIGTERM', 'SIGINT'] as const) {
      const { config, pids, count } = withHostileServer()
      const server = raw(['--config', config])
      server.send({ id: 2, method: 'tools/list' })
      await server.answered(2)
      server.send({ id: 3, method: 'tools/call', params: { name: 'never', arguments: {} } })
      await expect.poll(() => count('call never'), PATIENCE).toBe(1)
      server.send({ method: 'notifications/cancelled', params: { requestId: 3 } })
      if (end === 'stdin') server.child.stdin.end()
      else server.child.kill(end)
      expect(await server.exit).toBe(0)
      expect(pids().filter(isRunning)).toEqual([])
    }
  })
})

/** A server that says who it is in a file and never shakes hands; a failed test leaves it for a minute at most. */
function silentServer() {
  const file = join(folder, `pid-${crypto.randomUUID()}`)
  const source = `require('fs').writeFileSync(${JSON.stringify(file)}, process.pid + '\\n'); setTimeout(() => {}, 60_000)`
  const text = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  return {
    config: configFile({ mcpServers: { silent: { command: process.execPath, args: ['-e', source] } } }),
    async pid() {
      await expect.poll(text, PATIENCE).toContain('\n')
      return Number(text())
    },
  }
}

describe('a command that is stopped by a signal', () => {
  it.each([
    ['SIGTERM', 143, ['call', 'nosuch']],
    ['SIGINT', 130, ['call', 'nosuch']],
    ['SIGHUP', 129, ['tools']],
    ['SIGTERM', 143, ['doctor']],
    ['SIGTERM', 143, ['chat', 'abracadabra', '--model', 'offline']],
  ] as const)('[F40] leaves no server behind: %s, exit %i, %j', async (signal, code, words) => {
    const { config, pid } = silentServer()
    const { child, exit, out, err } = start([...words, '--config', config])
    const server = await pid()
    expect(isRunning(server)).toBe(true)
    child.kill(signal)
    expect(await exit).toBe(code)
    expect(isRunning(server)).toBe(false)
    expect({ out: out(), err: err() }).toEqual({ out: '', err: 'Stopped.\n' })
  })

  it('[F40] tells the tool that its call is cancelled, and the person', async () => {
    const { config, lines, pids } = withHostileServer()
    const { child, exit, err } = start(['call', 'never', '--config', config])
    await expect.poll(lines, PATIENCE).toContain('call never')
    child.kill('SIGINT')
    expect(await exit).toBe(130)
    expect(err()).toBe("Error: Tool 'never' was cancelled\n")
    expect(lines()).toContain('cancelled')
    expect(pids().filter(isRunning)).toEqual([])
  })
})
