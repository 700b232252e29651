import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { echoTool } from '../../test/gateway.ts'
import { histories } from '../../test/history.ts'
import { denied } from '../interceptors/index.ts'
import { removeFromLogs, treatAsSecret } from '../logging/redact.ts'
import { recordingLogger } from '../testing/index.ts'
import { defineTool } from '../tools/tool.ts'
import type { History, HistoryStatus, StoredCall } from './index.ts'

const { open, newFile, folder } = histories()
const child = fileURLToPath(new URL('../../test/history-child.mjs', import.meta.url))

type Report = HistoryStatus & { calls: number; failed: number; notices: string[] }

/** Another process that makes calls and keeps them in `file`; 0 calls for no end. */
function run(file: string, calls: number, options: { node?: string[]; uid?: number | undefined } = {}) {
  const { node = [], uid } = options
  const settings = {
    ...(uid !== undefined && { uid }),
    stdio: ['ignore', 'pipe', 'inherit'],
  } satisfies SpawnOptions
  return spawn(process.execPath, [...node, child, file, String(calls)], settings)
}

async function* reportsOf(process: ChildProcess): AsyncGenerator<Report> {
  for await (const line of createInterface({ input: process.stdout as NodeJS.ReadableStream }))
    yield JSON.parse(line) as Report
}

async function lastReport(process: ChildProcess): Promise<Report> {
  let last: Report | undefined
  for await (const report of reportsOf(process)) last = report
  return last as Report
}

async function allOf(history: History): Promise<StoredCall[]> {
  let text = ''
  for await (const part of history.export()) text += part
  const lines = text.split('\n').slice(0, -1)
  return lines.map(line => JSON.parse(line))
}

function withDatabase(file: string, sql: string): { close(): void } {
  const database = new (createRequire(import.meta.url)('libsql'))(file)
  database.exec(sql)
  return database
}

const filesBeside = (file: string) => readdirSync(dirname(file)).join()

describe('the history', () => {
  it('keeps every call, including refused ones, with its caller, its outcome and what interceptors noted', async () => {
    const { history, executor, file } = await open()
    executor.use(async (call, next) => {
      Object.assign(call.notes, { rule: 'no lamps', approval: { by: 'anna' }, trace_id: 'ab12' })
      return call.name === 'failing' ? denied(call, 'not today') : next()
    })
    const args = { x: [1, { y: null }] }
    await executor.run({ id: 'call-1', name: 'echo', args }, { origin: 'http', caller: 'claude' })
    await executor.run({ name: 'failing' })
    await executor.run({ name: 'no such tool', args: { a: 1 } }, { origin: 'mcp' })
    const [unknown, refused, echoed] = (await history.list()).calls
    expect(echoed).toMatchObject({
      serial: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
      ...{ id: 'call-1', tool: 'echo', source: 'local', origin: 'http', caller: 'claude', args },
      stages: expect.arrayContaining([expect.objectContaining({ name: 'fit' })]),
      result: { success: true, result: { echo: args }, tool_name: 'echo', tool_call_id: 'call-1' },
      ...{ rule: 'no lamps', approval: { by: 'anna' }, traceId: 'ab12' },
    })
    expect(refused?.result).toMatchObject({ code: 'denied', error: expect.stringContaining('not today') })
    expect(unknown).toMatchObject({ origin: 'mcp', result: { code: 'unknown_tool' } })
    expect(await history.get(refused?.serial ?? '')).toEqual(refused)
    expect(await history.get('99')).toBeUndefined()
    expect(history.status()).toMatchObject({ state: 'open', written: 3, dropped: 0 })
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('knows the server of a call, also when its tool is gone', async () => {
    const { history, executor } = await open()
    executor.tools.addMcpTools([{ ...echoTool, name: 'lamp' }], { server: 'home' })
    await executor.run({ name: 'lamp' })
    await executor.run({ name: 'lamp' }, { among: [echoTool] })
    executor.tools.remove('lamp')
    expect((await history.list()).calls.map(({ source }) => source)).toEqual(['local', 'home'])
  })

  it.each(['a file', ':memory:'])(
    'finds calls in %s by every filter and by words, a page at a time',
    async kind => {
      const { history, executor } = await open(kind === ':memory:' ? { file: kind } : {})
      for (let n = 0; n < 5; n++)
        await executor.run({ name: 'echo', args: { n, room: 'Küche' } }, { caller: n % 2 ? 'odd' : 'even' })
      await executor.run({ name: 'failing' }, { origin: 'mcp' })
      const found = async (query: object) =>
        (await history.list(query)).calls.map(({ args, tool }) => (args as { n?: number })?.n ?? tool)
      expect(await found({})).toEqual(['failing', 4, 3, 2, 1, 0])
      expect(await found({ caller: 'odd', server: 'local' })).toEqual([3, 1])
      expect(await found({ outcome: 'failed' })).toEqual(['failing'])
      expect(await found({ outcome: 'tool_error', origin: 'mcp', q: 'LAMP brok' })).toEqual(['failing'])
      expect(await found({ outcome: 'ok', q: 'kuch', since: Date.now() - 60_000, limit: 2 })).toEqual([4, 3])
      expect(await found({ until: Date.now() - 60_000 })).toEqual([])
      expect(await found({ q: 'OR "' })).toEqual([])
      const first = await history.list({ tool: 'echo', limit: 3 })
      const second = await history.list({ tool: 'echo', limit: 3, cursor: first.next })
      expect(second.calls.map(({ args }) => (args as { n: number }).n)).toEqual([1, 0])
      expect(second.next).toBeUndefined()
    },
  )

  it('has no secrets, and long texts are shortened', async () => {
    const { history, executor } = await open()
    treatAsSecret(['house code'])
    removeFromLogs(['tulip-garden-42'])
    const secret = { password: 'hunter22', houseCode: '1234', note: 'say tulip-garden-42 at the door' }
    await executor.run({ name: 'echo', args: { nested: [secret] } })
    await executor.run({ name: 'echo', args: { ...secret, long: 'long '.repeat(5_000) } })
    const text = JSON.stringify((await history.list()).calls)
    for (const value of ['hunter22', '1234"', 'tulip-garden-42']) expect(text).not.toContain(value)
    expect(text).toContain('say [removed] at the door')
    expect(text).toContain('… (25000 characters)')
    expect((await history.list({ q: 'hunter22' })).calls).toEqual([])
  })

  it('keeps values whatever they are', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const values = [cycle, { big: 10n, map: new Map([[1, 2]]) }, 'a \u0000 \ud800 text', undefined]
    const left = [...values]
    const about = { name: 'odd', description: 'Anything', schema: { type: 'object' } }
    const { history, executor } = await open({}, [defineTool({ ...about, handler: () => left.shift() })])
    for (const _ of values) expect((await executor.run({ name: 'odd' })).success).toBe(true)
    expect((await history.list()).calls).toHaveLength(values.length)
  })

  it('removes calls that are older than its days, also if nothing else happens', async () => {
    const before = await open()
    for (let n = 0; n < 10; n++) await before.executor.run({ name: 'echo' })
    await before.history.close()
    const { history } = await open({ file: before.file, days: 1e-9 })
    expect((await history.list()).calls).toEqual([])
    expect((await history.list({ q: 'echo' })).calls).toEqual([])
  })

  it('stays below its size: the oldest calls go, the newest stay', async () => {
    const { history, executor, file } = await open({ maxMb: 5 })
    for (let n = 0; n < 1_500; n++) {
      await executor.run({ name: 'echo', args: { n, text: `${n} ${'words of a long text '.repeat(200)}` } })
      if (n % 100 === 0) await history.list({ limit: 1 })
    }
    const calls = await allOf(history)
    expect(calls[0]?.args).toMatchObject({ n: 1_499 })
    expect(calls.length).toBeGreaterThan(100)
    expect(calls.length).toBeLessThan(1_500)
    const bytes = ['', '-wal'].reduce((sum, end) => sum + statSync(file + end).size, 0)
    expect(bytes).toBeLessThan(5.5 * 1024 * 1024)
  }, 30_000)
})

describe('a history shared by processes', () => {
  it('has all calls of both, each under a serial of its own', async () => {
    const file = newFile()
    const reports = await Promise.all([lastReport(run(file, 1_000)), lastReport(run(file, 1_000))])
    const all = { failed: 0, written: 1_000, dropped: 0, notices: [] }
    expect(reports).toMatchObject([all, all])
    const calls = await allOf((await open({ file })).history)
    expect(calls).toHaveLength(2_000)
    expect(new Set(calls.map(({ serial }) => serial)).size).toBe(2_000)
  }, 60_000)

  it('waits for one that holds a lock, without losing or reporting anything', async () => {
    const { history, executor, file } = await open()
    const other = withDatabase(file, 'BEGIN IMMEDIATE')
    await executor.run({ name: 'echo' })
    expect((await history.list()).calls).toEqual([])
    expect(history.status()).toMatchObject({ state: 'open', dropped: 0 })
    setTimeout(() => other.close(), 300)
    await history.close()
    expect(history.status()).toMatchObject({ written: 1, dropped: 0 })
  })

  it('survives kill -9: what was written is there, and the file opens again', async () => {
    const file = newFile()
    const process = run(file, 0)
    let written = 0
    for await (const report of reportsOf(process)) {
      written = report.written
      if (written > 1_000) process.kill('SIGKILL')
    }
    expect((await allOf((await open({ file })).history)).length).toBeGreaterThanOrEqual(written)
  }, 60_000)
})

describe('[F57] a history file that cannot be used', () => {
  it('costs the history, never a call; is said once, and used as soon as it can be', async () => {
    const file = newFile()
    writeFileSync(dirname(file), 'a file where the folder should be')
    const logger = recordingLogger()
    const { history, executor } = await open({ file, logger })
    for (let n = 0; n < 3; n++) expect((await executor.run({ name: 'echo' })).success).toBe(true)
    await expect(history.list()).rejects.toThrow(file)
    expect(history.status()).toMatchObject({ state: 'failed', written: 0 })
    expect(logger.records.filter(({ level }) => level === 'warn')).toHaveLength(1)
    rmSync(dirname(file))
    expect((await history.list()).calls).toHaveLength(3)
    expect(history.status()).toMatchObject({ state: 'open', written: 3, dropped: 0 })
  })

  it.runIf(process.platform === 'linux')('may be read-only: calls go on, and it is said once', async () => {
    const { history, file } = await open()
    await history.close()
    for (const path of [folder, dirname(file)]) chmodSync(path, 0o755)
    chmodSync(file, 0o444)
    // Root may write to every file.
    const report = await lastReport(run(file, 100, { uid: process.getuid?.() === 0 ? 65_534 : undefined }))
    expect(report).toMatchObject({ calls: 100, failed: 0, written: 0, dropped: 100, state: 'closed' })
    expect(report.notices).toEqual([expect.stringMatching(/Calls are not kept: .*(readonly|unable to open)/)])
  })

  it('may need a package that is not installed: it says which', async () => {
    const block = join(folder, 'no-libsql.cjs')
    const code = `const { Module } = require('node:module')
      const load = Module._load
      Module._load = (name, ...rest) => {
        if (/libsql/.test(name)) throw Object.assign(new Error('Cannot find it'), { code: 'MODULE_NOT_FOUND' })
        return load(name, ...rest)
      }`
    writeFileSync(block, code)
    const report = await lastReport(run(newFile(), 100, { node: ['--require', block] }))
    expect(report).toMatchObject({ calls: 100, failed: 0, written: 0, dropped: 100 })
    expect(report.notices).toEqual([expect.stringContaining('npm i libsql')])
  }, 30_000)

  it.each(['not a database at all', ''.padEnd(20_000, 'SQLite format 3\u0000 and nonsense ')])(
    'because it is damaged is moved aside, with one line: %#',
    async content => {
      const file = newFile()
      mkdirSync(dirname(file))
      writeFileSync(file, content)
      const notices: string[] = []
      const { history, executor } = await open({ file, onNotice: text => notices.push(text) })
      await executor.run({ name: 'echo' })
      expect((await history.list()).calls).toHaveLength(1)
      expect(filesBeside(file)).toContain(`${basename(file)}.damaged-`)
      expect(notices).toEqual([expect.stringContaining('is damaged; moved it to')])
    },
  )

  it('of an older version is moved aside, with one line; of a newer one it is left as it is', async () => {
    const { history, file } = await open()
    await history.close()
    withDatabase(file, 'PRAGMA user_version = 1').close()
    const notices: string[] = []
    const later = await open({ file, onNotice: text => notices.push(text) })
    await later.executor.run({ name: 'echo' })
    expect((await later.history.list()).calls).toHaveLength(1)
    expect(filesBeside(file)).toContain('history.db.outdated-')
    expect(notices).toEqual([expect.stringContaining('by an older version of Toolpost; moved it to')])
    await later.history.close()
    withDatabase(file, 'PRAGMA user_version = 99').close()
    const { problem, state } = (await open({ file })).history.status()
    expect([state, problem]).toEqual(['failed', expect.stringContaining('newer version')])
  })
})
