import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { commandLine } from '../../test/command.ts'
import type { ToolpostConfig } from '../config/config.ts'
import { silentLogger } from '../logging/logger.ts'
import { assemble } from '../project/assemble.ts'
import { Servers } from '../project/servers.ts'
import { isRunning } from '../testing/hostile-server/harness.ts'
import { hostileServer } from '../testing/hostile-server/hostile-server.ts'
import { examine } from './commands/doctor.ts'
import { listTools } from './commands/tools.ts'
import type { Session } from './session.ts'
import { stopSignals } from './stop-signals.ts'
import { say } from './terminal.ts'

const { folder } = commandLine()
const opened: Session[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const { servers, stop } of opened.splice(0)) {
    await servers.close()
    stop.forget()
  }
})

/** A session without a process of its own, and what it wrote. */
function open(config: ToolpostConfig, { homeProgram }: { homeProgram?: string } = {}) {
  const [out, err] = [new PassThrough(), new PassThrough()] as unknown as NodeJS.WriteStream[]
  const terminal = { out: out as NodeJS.WriteStream, err: err as NodeJS.WriteStream }
  const assembled = assemble(config, silentLogger)
  const isExample = homeProgram !== undefined
  const { tools } = assembled
  const servers = new Servers({
    config,
    isExample,
    tools,
    logger: silentLogger,
    say: text => say(terminal, text),
    homeProgram,
  })
  const session = {
    ...assembled,
    config,
    file: undefined,
    logger: silentLogger,
    servers,
    stop: stopSignals(),
  }
  opened.push(session)
  const written = (stream: 'out' | 'err') => {
    const chunks: string[] = []
    for (let chunk = terminal[stream].read(); chunk !== null; chunk = terminal[stream].read())
      chunks.push(String(chunk))
    return chunks.join('')
  }
  return { session, terminal, written }
}

function withJournal() {
  const journal = join(folder, `journal-${crypto.randomUUID()}`)
  const lines = () => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : [])
  const pids = () => lines().flatMap(line => (line.startsWith('pid ') ? [Number(line.slice(4))] : []))
  return { config: { mcpServers: { hostile: hostileServer({ journal }) } }, pids }
}

describe('the servers of a session', () => {
  it('are started once, however often at the same time they are needed', async () => {
    const { config, pids } = withJournal()
    const { servers } = open(config).session
    const [first, second] = await Promise.all([servers.start(), servers.start(), servers.find('never')])
    expect(first).toBeDefined()
    expect(second).toBe(first)
    expect(await servers.ready()).toMatchObject([{ name: 'hostile', state: 'ready' }])
    expect(pids()).toHaveLength(1)
    await servers.close()
    expect(pids().filter(isRunning)).toEqual([])
  })

  it('[F40] are ended also while they start, and not started afterwards', async () => {
    const { config, pids } = withJournal()
    const { servers } = open(config).session
    const starting = servers.start()
    await servers.close()
    await starting
    expect(await servers.start()).toBeUndefined()
    expect(pids().filter(isRunning)).toEqual([])
  })
})

describe('an example home that is broken', () => {
  const broken = () => {
    vi.stubEnv('MQTT_BROKER_URL', '')
    const homeProgram = join(folder, 'broken-home.cjs')
    writeFileSync(homeProgram, 'console.log("no such broker"); setTimeout(() => {}, 60_000)')
    return open({ model: 'offline' }, { homeProgram })
  }

  it('is said in a sentence, and the local tools go on', async () => {
    const { session, terminal, written } = broken()
    expect(await listTools(session, {}, terminal)).toBe(0)
    expect(written('out')).toContain('echo(')
    expect(written('err')).toBe(
      "The example home could not be started, so there are local tools only: it printed 'no such broker' instead of its address\n",
    )
  })

  it('is a failed verdict of the doctor', async () => {
    const { session, terminal, written } = broken()
    expect(await examine(session, terminal)).toBe(1)
    const out = written('out')
    expect(out).toMatch(/^✔ configuration: /m)
    expect(out).toMatch(/^✘ example home: it printed 'no such broker' instead of its address$/m)
  })

  it('is given up without a word when the servers are closed', async () => {
    const { session, written } = broken()
    const ready = session.servers.ready()
    await session.servers.close()
    expect(await ready).toEqual([])
    expect(written('err')).toBe('')
  })
})
