import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configFolder, writeFiles } from '../../../test/config-folder.ts'
import { MemoryDatabase } from '../../../test/memory-durable.ts'
import { silentLogger } from '../../logging/logger.ts'
import { openProject } from '../open-project.ts'
import type { DurableSettings } from './durable-runs.ts'

const LEDGER_SERVER = fileURLToPath(new URL('../../../test/ledger-server.mjs', import.meta.url))
const PATIENCE = { interval: 5, timeout: 15_000 }

const mock = (name: string, answer: unknown, more: object = {}) => ({
  name,
  description: `Gives ${name}`,
  parameters: { type: 'object', properties: { level: { type: 'integer' } } },
  implementation: { type: 'mock', mock_response: answer },
  ...more,
})

/** A process with a configuration of its own, on a database that it may share. */
async function process(
  database: MemoryDatabase,
  config: object,
  settings: DurableSettings = {},
  folder = configFolder({ 'toolpost.json': config }),
) {
  const project = await openProject({
    ...{ file: join(folder, 'toolpost.json'), logger: () => silentLogger, say: () => {} },
    durable: { create: database.create, stays: true, ...settings },
  })
  // As the gateway does.
  project.executor.observe(() => {})
  onTestFinished(() => project.close())
  await project.startDurable()
  return { project, folder, run: project.executor.run.bind(project.executor) }
}

const runsOf = (database: MemoryDatabase) => [...database.entries.values()].map(({ run }) => run)

describe('tools of elsewhere', () => {
  it('are ordinary tools: found, fitted, validated, run there, with the run in the result', async () => {
    const database = new MemoryDatabase()
    const lamp = mock('lamp', { on: true }, { read_only: true, timeout_ms: 1_234 })
    await process(database, { durable: { pool: 'home' }, tools: [lamp] })
    const { project, run } = await process(database, { durable: true })
    const shown = { description: 'Gives lamp', readOnly: true, timeoutMs: 1_234 }
    await expect.poll(() => project.tools.findTool('lamp'), PATIENCE).toMatchObject(shown)
    const result = await run({ name: 'lamp', args: { level: 1 } }, { caller: 'me' })
    const [only] = runsOf(database)
    expect(result).toMatchObject({ success: true, result: { on: true }, run_id: only?.id })
    expect(only).toMatchObject({ pool: 'home', caller: 'me', origin: 'worker' })
    expect(await run({ name: 'lamp', args: { level: 'high' } })).toMatchObject({ code: 'invalid_arguments' })
    expect(runsOf(database)).toHaveLength(1)
  })

  it('are unavailable, and say since when, once their last worker is gone, and there again when it is back', async () => {
    const database = new MemoryDatabase()
    const worker = await process(database, { durable: { pool: 'home' }, tools: [mock('lamp', 'on')] })
    const { project, run } = await process(database, { durable: true })
    await expect.poll(() => project.tools.findTool('lamp'), PATIENCE).toBeDefined()
    await worker.project.close()
    const gone = [...database.processes][0]?.goneSince
    for (let time = 0; time < 6; time++)
      expect(await run({ name: 'lamp' })).toMatchObject({
        code: 'unavailable',
        error: expect.stringContaining(`no worker of pool 'home' runs it, since ${gone}`),
      })
    await process(database, { durable: { pool: 'home' }, tools: [mock('lamp', 'on')] })
    await expect.poll(() => run({ name: 'lamp' }), PATIENCE).toMatchObject({ result: 'on' })
  })
})

describe('a keyed call', () => {
  it('waits for a server that is still starting, also if its run exists', async () => {
    const database = new MemoryDatabase()
    const gates = configFolder({})
    const ledger = join(gates, 'ledger')
    const serverBehind = (gate: string) => {
      const line = `while [ ! -e "${join(gates, gate)}" ]; do sleep 0.02; done; exec "$0" "${LEDGER_SERVER}" "${ledger}"`
      return { command: 'sh', args: ['-c', line, execPath] }
    }
    for (const gate of ['first', 'second']) {
      const { project } = await process(database, {
        ...{ durable: true, tools: [] },
        mcpServers: { slow: serverBehind(gate) },
      })
      void project.start()
      const accepting = project.durable()?.accept({ name: 'note', args: { text: 'once' } }, { key: 'k' })
      writeFiles(gates, { [gate]: '' })
      const accepted = await accepting
      if (!accepted || 'refused' in accepted) throw new Error(JSON.stringify(accepted))
      expect(await accepted.result).toMatchObject({ success: true, result: 'note: once' })
    }
    expect(readFileSync(ledger, 'utf8')).toBe('note once\n')
    expect(runsOf(database)).toHaveLength(1)
  })

  it('that was lost with its worker says nothing about the server: others are let through', async () => {
    const database = new MemoryDatabase()
    const ledger = { command: execPath, args: [LEDGER_SERVER, join(configFolder({}), 'ledger')] }
    const { project, run } = await process(database, {
      ...{ durable: { tools: ['note'] }, tools: [], mcpServers: { ledger } },
      limits: { breaker: { failures: 2 } },
    })
    await project.start()
    database.isLosing = true
    const lost = { code: 'unavailable', error: 'its worker was lost', run_id: expect.any(String) }
    for (let time = 0; time < 4; time++) expect(await run({ name: 'note' })).toMatchObject(lost)
    database.isLosing = false
    expect(await run({ name: 'note' })).toMatchObject({ success: true })
  })
})

it('durable.tools names tools whose calls are runs, whoever makes them; others pay nothing', async () => {
  const database = new MemoryDatabase()
  const tools = [mock('pay', 'paid'), mock('look', 'seen')]
  const { run } = await process(database, { durable: { tools: ['pa*'] }, tools })
  expect(await run({ name: 'look' })).toMatchObject({ result: 'seen' })
  expect(runsOf(database)).toEqual([])
  const result = await run({ name: 'pay', id: 'c1' }, { origin: 'chat', caller: 'me' })
  const [only] = runsOf(database)
  expect(result).toMatchObject({ result: 'paid', run_id: only?.id, tool_call_id: 'c1' })
  expect(only).toMatchObject({ tool: 'pay', state: 'done', caller: 'me', pool: 'default' })
})

describe('a run that a person must approve', () => {
  const policy = [{ tools: ['pay'], then: 'ask', because: 'it costs money', timeoutMs: 3 * 86_400_000 }]

  it('is shown as a direct call is, with its server, definition and reason', async () => {
    const ledger = { command: execPath, args: [LEDGER_SERVER, join(configFolder({}), 'ledger')] }
    const asking = [{ tools: ['note'], then: 'ask', because: 'it writes' }]
    const config = { durable: true, policy: asking, tools: [], mcpServers: { ledger } }
    const { project, run } = await process(new MemoryDatabase(), config)
    await project.start()
    const call = { name: 'note', args: { text: 'hi' } }
    void run(call, { origin: 'http' })
    await expect.poll(() => project.approvals.list(), PATIENCE).toHaveLength(1)
    await project.durable()?.accept(call, { origin: 'http', key: 'k' })
    await expect.poll(() => project.approvals.list(), PATIENCE).toHaveLength(2)
    const [direct, durable] = project.approvals.list()
    const { id: _, askedAt, expiresAt, caller, ...about } = direct ?? {}
    expect(about).toMatchObject({ server: 'ledger', because: 'it writes', scopes: ['tool', 'server'] })
    expect(durable).toMatchObject(about)
  })

  it.each([
    ['a gateway that has the tool but runs nothing', 'default', [mock('pay', 'paid')]],
    ['one whose tool is elsewhere', 'home', []],
  ])('[F66] is not queued before a person has decided, also at %s', async (_, pool, tools) => {
    const database = new MemoryDatabase()
    await process(database, { durable: { pool }, tools: [mock('pay', 'paid')] })
    const { project } = await process(database, { durable: true, policy, tools }, { role: 'gateway' })
    await expect.poll(() => project.tools.findTool('pay'), PATIENCE).toBeDefined()
    const accepted = await project.durable()?.accept({ name: 'pay' }, { origin: 'http', key: 'k' })
    if (!accepted || 'refused' in accepted) throw new Error('not accepted')
    await expect.poll(() => project.approvals.list(), PATIENCE).toHaveLength(1)
    expect(runsOf(database)).toMatchObject([{ state: 'approval' }])
    const [{ id = '', askedAt = 0, expiresAt = 0, because = '' } = {}] = project.approvals.list()
    expect([because, expiresAt - askedAt]).toEqual(['it costs money', 3 * 86_400_000])
    project.approvals.decide(id, 'approve')
    expect(await accepted.result).toMatchObject({ result: 'paid' })
  })

  it('is asked about once if its tool is always durable, and not at all if that was remembered', async () => {
    const database = new MemoryDatabase()
    const config = { durable: { tools: ['pay'] }, policy, tools: [mock('pay', 'paid')] }
    const { project, run } = await process(database, config)
    let asked = 0
    project.approvals.onChange(waiting => {
      for (const { id } of waiting)
        if (project.approvals.decide(id, 'approve', { remember: 'session' })) asked++
    })
    expect(await run({ name: 'pay' }, { origin: 'http' })).toMatchObject({ result: 'paid' })
    expect(asked).toBe(1)
    const accepted = await project.durable()?.accept({ name: 'pay' }, { origin: 'http', key: 'k' })
    expect(accepted && 'id' in accepted && (await accepted.result)).toMatchObject({ result: 'paid' })
    expect(asked).toBe(1)
  })
})

it('the engine of a project gets what the configuration says, under a name that stays', async () => {
  const database = new MemoryDatabase()
  const limits = { local: { concurrency: 2, perMinute: 60 }, elsewhere: { concurrency: 1 } }
  const shared = { databaseUrl: 'postgres://u:p@db:5432/t', pool: 'home', concurrency: 4, days: 7 }
  const durable = { ...shared, servers: limits }
  const { project, folder } = await process(database, { durable }, { role: 'gateway' })
  const [{ options: { workerId = '' } = {} } = {}] = database.processes
  const own = { local: limits.local }
  expect([...database.processes]).toMatchObject([{ options: { ...shared, limits: own, role: 'gateway' } }])
  await project.close()
  // It offers its tools before it connects: its runs would find no worker otherwise.
  let offered: number | undefined
  const ready = async () => {
    offered = [...database.processes].at(-1)?.tools.length
  }
  const create: DurableSettings['create'] = options => ({ ...database.create(options), ready })
  await process(database, {}, { create }, folder)
  expect(offered).toBeGreaterThan(0)
  expect([...database.processes].map(({ options }) => options.workerId)).toEqual([workerId, workerId])
})
