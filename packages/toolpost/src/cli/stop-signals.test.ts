import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { outputOf } from '../../../../tests/output-of.ts'
import { commandLine } from '../../test/command.ts'
import { isRunning } from '../../test/hostile-server/harness.ts'
import { eventsIn, hostileServer, pidsIn } from '../../test/hostile-server/hostile-server.ts'
import { packageRoot } from '../util/package-root.ts'

const { folder, configFile } = commandLine()
const COMMAND = join(packageRoot(), 'bin', 'toolpost.cjs')
const PATIENCE = { interval: 10, timeout: 15_000 }

/** The command with its input left open. */
function run(words: string[]) {
  const child = spawn(process.execPath, [COMMAND, ...words], { cwd: folder })
  return { child, ...outputOf(child) }
}

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

/** A server whose tools may hang, and what happened there. */
function withHostileServer() {
  const journal = join(folder, `journal-${crypto.randomUUID()}`)
  const lines = () => eventsIn(journal)
  return {
    config: configFile({ mcpServers: { hostile: hostileServer({ journal }) } }),
    lines,
    running: () => pidsIn(journal).filter(isRunning),
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
    const { child, exit, out, err } = run([...words, '--config', config])
    const server = await pid()
    expect(isRunning(server)).toBe(true)
    child.kill(signal)
    expect(await exit).toBe(code)
    expect(isRunning(server)).toBe(false)
    expect({ out: out(), err: err() }).toEqual({ out: '', err: 'Stopped.\n' })
  })

  it('[F40] tells the tool that its call is cancelled, and the person', async () => {
    const { config, lines, running } = withHostileServer()
    const { child, exit, err } = run(['call', 'never', '--config', config])
    await expect.poll(lines, PATIENCE).toContain('call never')
    child.kill('SIGINT')
    expect(await exit).toBe(130)
    expect(err()).toBe("Error: Tool 'never' was cancelled\n")
    expect(lines()).toContain('cancelled')
    expect(running()).toEqual([])
  })
})
