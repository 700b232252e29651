import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { closedGate, lateServer } from '../../test/gated-server.ts'
import { isRunning } from '../../test/hostile-server/harness.ts'
import { hostileServer, pidsIn } from '../../test/hostile-server/hostile-server.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import type { ToolpostConfig } from './config.ts'
import { createProject, type Project, type ProjectOptions } from './project.ts'
import { builtInExample, type ResolvedConfig } from './resolve.ts'

const { folder } = commandLine()
const opened: Project[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(opened.splice(0).map(project => project.close()))
})

/** A project without a process of its own, and what it said. */
function open(config: ToolpostConfig, options: Partial<ProjectOptions & ResolvedConfig> = {}) {
  const said: string[] = []
  const { file = join(folder, 'toolpost.json'), brokenServers = {} } = options
  const resolved = { ...builtInExample(), config, file: file || undefined, brokenServers }
  const project = createProject(resolved, {
    say: text => said.push(text),
    read: async () => resolved,
    ...options,
  })
  opened.push(project)
  return { project, said }
}

function withJournal() {
  const journal = join(folder, `journal-${crypto.randomUUID()}`)
  const pids = () => pidsIn(journal)
  return { config: { mcpServers: { hostile: hostileServer({ journal }) } }, pids }
}

const NEVER_READY = { command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60_000)'] }

describe('the servers of a project', () => {
  it('are started once, however often at the same time they are needed', async () => {
    const { config, pids } = withJournal()
    const { project } = open(config)
    await Promise.all([project.ready(), project.start(), project.waitForTool('never')])
    expect(await project.ready()).toMatchObject([{ name: 'hostile', state: 'ready' }])
    expect(pids()).toHaveLength(1)
    await project.close()
    expect(pids().filter(isRunning)).toEqual([])
  })

  it('[F40] are ended also while they start, and not started afterwards', async () => {
    const { config, pids } = withJournal()
    const { project } = open(config)
    const starting = project.ready()
    await Promise.all([project.close(), project.close()])
    await starting
    expect(await project.ready()).toEqual([])
    expect(pids().filter(isRunning)).toEqual([])
  })

  it('tell of their changes, in order; a listener that throws is logged once and harms nobody', async () => {
    const logger = recordingLogger()
    const { project } = open(withJournal().config, { logger: () => logger })
    const states: string[] = []
    project.on('server', () => {
      throw new Error('my own mistake')
    })
    const stop = project.on('server', ({ state }) => states.push(state))
    const tools = vi.fn()
    project.on('tools', tools)
    await project.ready()
    await vi.waitFor(() => expect(states.at(-1)).toBe('ready'))
    expect(states[0]).toBe('starting')
    expect(tools).toHaveBeenCalled()
    await project.restart('hostile')
    await vi.waitFor(() => expect(states.slice(states.indexOf('ready'))).toContain('lost'))
    const failures = logger.at('warn').filter(({ message }) => message.includes('listener'))
    expect(failures).toHaveLength(1)
    stop()
    const before = states.length
    await project.close()
    expect(states).toHaveLength(before)
  })

  it('that cannot be started as they are configured fail alone, and say why', async () => {
    const { config } = withJournal()
    const servers = { broken: { command: 'x', env: { A: '${MISSING}' } }, ...config.mcpServers }
    const problem = 'the environment variable MISSING is not set'
    const { project, said } = open({ mcpServers: servers }, { brokenServers: { broken: problem } })
    expect(await project.ready()).toMatchObject([
      { name: 'broken', state: 'failed', error: problem, attempts: 0 },
      { name: 'hostile', state: 'ready' },
    ])
    expect(said).toEqual([`❌ Server 'broken' cannot be started: ${problem}`])
  })

  it('that are still starting when a call runs out of time are named, not denied', async () => {
    const { project } = open({ mcpServers: { slow: NEVER_READY } })
    await project.waitForTool('wanted', 300)
    const result = await project.executor.run({ name: 'wanted', args: { any: 1 } })
    expect(result).toMatchObject({
      success: false,
      code: 'timeout',
      error: "Tool 'wanted' timed out after 300 ms",
      diagnosis: { causes: ["Server 'slow' is still starting"] },
    })
  })
})

it('a tool that was waited for in vain is that of its server once it appears, and nothing keeps listening', async () => {
  const gate = closedGate()
  const { project } = open({ mcpServers: { late: lateServer('late', gate.path) } })
  await project.tried('late', 50)
  const onChange = project.tools.onChange.bind(project.tools)
  let listening = 0
  vi.spyOn(project.tools, 'onChange').mockImplementation(listener => {
    const stop = onChange(listener)
    listening++
    return () => {
      listening--
      stop()
    }
  })
  const waiting = project.waitForTool('label', 100)
  await vi.waitFor(() => expect(listening).toBe(1))
  expect(await waiting).toBe('label')
  expect(listening).toBe(0)
  expect(project.tools.findTool('label')).toBeUndefined()
  gate.open()
  await project.ready()
  expect(await project.executor.run({ name: 'label' })).toMatchObject({ success: true, result: 'late' })
})

it('has the local tools that `local` names, and the declared ones', async () => {
  const greet = {
    name: 'greet',
    description: 'Greets',
    implementation: { type: 'mock' as const, mock_response: 'hi' },
  }
  const names = (config: ToolpostConfig) =>
    open(config)
      .project.tools.getTools()
      .map(({ name }) => name)
  expect(names({})).toEqual(expect.arrayContaining(['datetime', 'search', 'volume', 'echo']))
  expect(names({ local: ['datetime'], tools: [greet] })).toEqual(['datetime', 'greet'])
  expect(names({ local: false })).toEqual([])
  expect(await open({ tools: [greet] }).project.executor.execute('greet')).toBe('hi')
})

describe('close', () => {
  it('ends everything, even if one part fails to end', async () => {
    const { config, pids } = withJournal()
    const logger = recordingLogger()
    const { project } = open(
      { ...config, model: 'offline', history: { file: join(folder, 'close.db') } },
      {
        logger: () => logger,
        voice: async () => ({
          ready: async () => {},
          status: () => [{ name: 'mqtt', state: 'ready', text: '' }],
          close: () => Promise.reject(new Error('the microphone is stuck')),
          transcribe: vi.fn(),
        }),
      },
    )
    const parts = vi.fn()
    project.on('voice', parts)
    expect(project.status().voice).toMatchObject([{ name: 'voice', state: 'starting' }])
    await project.keepHistory()
    await project.start()
    expect(parts).toHaveBeenLastCalledWith([{ name: 'mqtt', state: 'ready', text: '' }])
    const history = project.history()
    expect(pids().filter(isRunning)).toHaveLength(1)
    await project.close()
    expect(pids().filter(isRunning)).toEqual([])
    expect(history?.status().state).toBe('closed')
    expect(logger.at('warn').map(({ fields }) => fields)).toContainEqual({ error: 'the microphone is stuck' })
  })
})
