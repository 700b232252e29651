import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { outputOf } from '../../../../tests/output-of.ts'
import { commandLine } from '../../test/command.ts'
import { isRunning } from '../../test/hostile-server/harness.ts'
import { eventsIn, hostileServer, pidsIn } from '../../test/hostile-server/hostile-server.ts'
import { type AnyClient, CLIENTS } from '../../test/mcp-clients.ts'
import { packageRoot } from '../util/package-root.ts'

const { folder, configFile } = commandLine()
const COMMAND = join(packageRoot(), 'bin', 'toolpost.cjs')

/** A configuration with a hostile server behind, and what happened there. */
function withHostileServer() {
  const journal = join(folder, `journal-${crypto.randomUUID()}`)
  const lines = () => eventsIn(journal)
  return {
    config: configFile({ mcpServers: { hostile: hostileServer({ journal }) } }),
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
  const child = spawn(process.execPath, [COMMAND, 'serve', '--stdio', ...words], { cwd: folder })
  const { out, exit } = outputOf(child)
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
