import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { failingTool, histories } from '../../test/history.ts'
import { denied } from '../interceptors/index.ts'
import { removeFromLogs, treatAsSecret } from '../logging/safe-value.ts'
import { defineTool } from '../tools/tool.ts'
import { History } from './history.ts'
import type { CallQuery, StoredCall } from './index.ts'
import { HistoryReader } from './reader.ts'

const { open, folder } = histories()

async function allOf(history: History, query: CallQuery = {}): Promise<StoredCall[]> {
  const { calls, next } = await history.list(query)
  return next === undefined ? calls : [...calls, ...(await allOf(history, { ...query, cursor: next }))]
}

/** The file as an older Toolpost left it. */
function withoutStages(file: string): void {
  const database = new (createRequire(import.meta.url)('libsql'))(file)
  for (const column of ['found_ms', 'fitted_ms']) database.exec(`ALTER TABLE calls DROP COLUMN ${column}`)
  database.close()
}

describe('the history', () => {
  it('keeps every call, including refused ones, with its caller, its outcome and what interceptors noted', async () => {
    const { history, executor } = await open()
    executor.use(async (call, next) => {
      Object.assign(call.notes, { rule: 'no lamps', approval: { by: 'anna' }, trace_id: 'ab12' })
      return call.name === 'failing' ? denied(call, 'not today') : next()
    })
    await executor.run(
      { id: 'call-1', name: 'echo', args: { x: [1, { y: null }] } },
      { origin: 'http', caller: 'claude' },
    )
    await executor.run({ name: 'failing' })
    await executor.run({ name: 'no such tool', args: { a: 1 } }, { origin: 'mcp' })
    const [unknown, refused, echoed] = (await history.list()).calls
    expect(echoed).toMatchObject({
      serial: 1,
      id: 'call-1',
      tool: 'echo',
      source: 'local',
      origin: 'http',
      caller: 'claude',
      args: { x: [1, { y: null }] },
      result: {
        success: true,
        result: { echo: { x: [1, { y: null }] } },
        tool_name: 'echo',
        tool_call_id: 'call-1',
      },
      rule: 'no lamps',
      approval: { by: 'anna' },
      traceId: 'ab12',
    })
    expect(refused?.result).toMatchObject({
      success: false,
      code: 'denied',
      error: expect.stringContaining('not today'),
    })
    expect(unknown).toMatchObject({ serial: 3, origin: 'mcp', result: { code: 'unknown_tool' } })
    expect(await history.get(2)).toEqual(refused)
    expect(await history.get(99)).toBeUndefined()
    expect(history.status()).toMatchObject({ state: 'open', written: 3, dropped: 0 })
  })

  it('has no secrets, whenever they were learned, and long texts are shortened', async () => {
    const { history, executor } = await open()
    treatAsSecret(['house code'])
    removeFromLogs(['tulip-garden-42'])
    const long = 'long '.repeat(5_000)
    const secret = { password: 'hunter22', houseCode: '1234', note: 'say tulip-garden-42 at the door' }
    // Small values are cleaned by the thread that writes, large ones before.
    await executor.run({ name: 'echo', args: secret })
    await executor.run({ name: 'echo', args: { nested: [secret] } })
    await executor.run({ name: 'echo', args: { ...secret, long } })
    const { calls } = await history.list()
    expect(calls).toHaveLength(3)
    const text = JSON.stringify(calls)
    for (const value of ['hunter22', '1234"', 'tulip-garden-42']) expect(text).not.toContain(value)
    expect(text).toContain('say [removed] at the door')
    expect(text).toContain('… (25000 characters)')
    expect((await history.list({ q: 'hunter22' })).calls).toEqual([])
  })

  it('keeps when the tool was found and its arguments fitted, and takes over a file that has no room for it', async () => {
    const { history, executor, file } = await open()
    await executor.run({ name: 'echo' })
    await executor.run({ name: 'no such tool' })
    const [unknown, echoed] = (await history.list()).calls
    const { foundMs = -1, fittedMs = -1 } = echoed?.stages ?? {}
    expect(foundMs).toBeGreaterThanOrEqual(0)
    expect(fittedMs).toBeGreaterThanOrEqual(foundMs)
    expect(fittedMs).toBeLessThanOrEqual(echoed?.durationMs ?? 0)
    expect(unknown?.stages).toBeUndefined()
    await history.close()
    withoutStages(file)
    const reader = new HistoryReader(file)
    expect(reader.list().calls.map(({ tool, stages }) => [tool, stages])).toEqual([
      ['no such tool', undefined],
      ['echo', undefined],
    ])
    reader.close()
    const again = await open({ file })
    await again.executor.run({ name: 'echo' })
    const calls = (await again.history.list()).calls
    expect(calls.map(({ stages }) => stages !== undefined)).toEqual([true, false, false])
  })

  it('keeps values as they were when the call ended', async () => {
    const value = { state: 'on' }
    const lamp = defineTool({
      name: 'lamp',
      description: 'A lamp',
      schema: { type: 'object' },
      handler: () => value,
    })
    const { history, executor } = await open({}, [lamp])
    const args = { level: 1 }
    await executor.run({ name: 'lamp', args })
    value.state = 'off'
    args.level = 2
    expect((await history.list()).calls[0]).toMatchObject({
      args: { level: 1 },
      result: { result: { state: 'on' } },
    })
  })

  it('takes any value: none harms a call, and none is missing', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const values = [
      cycle,
      { big: 10n, not: Number.NaN, map: new Map([[1, 2]]), at: new Date(0) },
      { toJSON: () => 'something else' },
      {
        get broken() {
          throw new Error('do not look')
        },
      },
      Array.from({ length: 10_000 }, (_, index) => ({ index })),
      'a \u0000 \ud800 text',
      undefined,
    ]
    let turn = 0
    const odd = defineTool({
      name: 'odd',
      description: 'Anything',
      schema: { type: 'object' },
      handler: () => values[turn++],
    })
    const { history, executor } = await open({}, [odd])
    for (const _ of values) expect((await executor.run({ name: 'odd', id: 'an id' })).success).toBe(true)
    const calls = await allOf(history)
    expect(calls).toHaveLength(values.length)
    expect(JSON.stringify(calls)).toContain('[circular]')
    expect(history.dropped).toBe(0)
  })

  it('is read a page at a time, newest first, and nothing comes twice or not at all', async () => {
    const { history, executor } = await open()
    await Promise.all(Array.from({ length: 57 }, (_, n) => executor.run({ name: 'echo', args: { n } })))
    const serials = (await allOf(history, { limit: 10 })).map(({ serial }) => serial)
    expect(serials).toHaveLength(57)
    expect(new Set(serials).size).toBe(57)
    expect((await history.list({ limit: 57 })).next).toBeUndefined()
  })

  it('is asked by tool, server, caller, outcome, time and words', async () => {
    const { history, executor } = await open()
    await executor.run({ name: 'echo', args: { room: 'Küche', lamp: 'living-room' } }, { caller: 'anna' })
    await executor.run({ name: 'failing', args: {} }, { caller: 'bert' })
    await executor.run({ name: 'nothing', args: {} })
    const toolsOf = async (query: CallQuery) => (await history.list(query)).calls.map(({ tool }) => tool)
    expect(await toolsOf({ tool: 'echo' })).toEqual(['echo'])
    expect(await toolsOf({ server: 'local', outcome: 'ok' })).toEqual(['echo'])
    expect(await toolsOf({ server: 'zwave' })).toEqual([])
    expect(await toolsOf({ caller: 'bert' })).toEqual(['failing'])
    expect(await toolsOf({ outcome: 'failed' })).toEqual(['nothing', 'failing'])
    expect(await toolsOf({ outcome: 'tool_error' })).toEqual(['failing'])
    expect(await toolsOf({ since: Date.now() + 1_000 })).toEqual([])
    expect(await toolsOf({ until: Date.now() + 1_000, since: 0 })).toHaveLength(3)
    expect(await toolsOf({ q: 'kuche LIVING' })).toEqual(['echo'])
    expect(await toolsOf({ q: 'lamp brok' })).toEqual(['failing'])
    expect(await toolsOf({ q: 'kuche broken' })).toEqual([])
  })

  it.each([
    '"',
    'a" OR "b',
    'NOT x',
    '*',
    'tool:echo',
    'NEAR(a b)',
    "'; DROP TABLE calls; --",
    '^x',
    '漢字 {a}',
    'é́',
  ])('takes the words %s as words, not as commands', async q => {
    const { history, executor } = await open()
    await executor.run({ name: 'echo', args: { q: `before ${q} after` } })
    const { calls } = await history.list({ q: `before ${q}` })
    expect(calls).toHaveLength(1)
  })

  it('goes on with its numbers, and belongs to its owner alone', async () => {
    const first = await open({ file: join(folder, '.toolpost', 'history.db') })
    await first.executor.run({ name: 'echo' })
    await first.history.close()
    const { history, executor, file } = await open({ file: first.file })
    await executor.run({ name: 'echo' })
    expect((await history.list()).calls.map(({ serial }) => serial)).toEqual([2, 1])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    expect(existsSync(join(dirname(file), '.gitignore'))).toBe(true)
  })

  it('keeps calls that ended before the file was opened, and numbers them on', async () => {
    const before = await open()
    await before.executor.run({ name: 'echo' })
    await before.history.close()
    const history = new History({ file: before.file, after: Promise.resolve() })
    history.observe(before.executor)
    await before.executor.run({ name: 'echo', args: { early: true } })
    const { calls } = await history.list()
    expect(calls).toMatchObject([{ args: { early: true } }, { serial: 1 }])
    expect(calls[0]?.serial).toBeGreaterThan(1)
    await history.close()
  })

  it('is exported as JSON lines, and as CSV that no spreadsheet executes', async () => {
    const { history, executor } = await open({}, [failingTool])
    await executor.run(
      { id: '=cmd|x', name: 'failing', args: { text: 'a "quoted", \n text' } },
      { caller: '+49 1' },
    )
    const textOf = async (format: 'jsonl' | 'csv') => {
      let text = ''
      for await (const piece of history.export({}, format)) text += piece
      return text
    }
    const lines = (await textOf('jsonl')).trim().split('\n')
    expect(lines.map(line => JSON.parse(line))).toEqual((await history.list()).calls)
    const csv = await textOf('csv')
    expect(csv.split('\r\n')).toHaveLength(3)
    expect(csv).toMatch(/^serial,time,tool,/)
    expect(csv).toContain(`"'=cmd|x","{""text"":""a \\""quoted\\"", \\n text""}"`)
    expect(csv).toContain(`"'+49 1"`)
  })

  it('is pruned by age', async () => {
    const { history, executor, file } = await open()
    await executor.run({ name: 'echo' })
    await history.close()
    const later = await open({ file, days: 1e-9 })
    expect((await later.history.list()).calls).toEqual([])
    expect((await later.history.list({ q: 'echo' })).calls).toEqual([])
  })

  it('is pruned by size: the file stays below its limit, and the newest calls stay', async () => {
    const { history, executor, file } = await open({ maxMb: 5 })
    const text = Array.from({ length: 5 }, () => 'word '.repeat(90))
    let largest = 0
    for (let round = 0; round < 40; round++) {
      for (let n = 0; n < 100; n++) await executor.run({ name: 'echo', args: { round, n, text } })
      await history.list({ limit: 1 })
      const sizes = [file, `${file}-wal`].map(one => statSync(one, { throwIfNoEntry: false })?.size ?? 0)
      largest = Math.max(largest, (sizes[0] ?? 0) + (sizes[1] ?? 0))
    }
    expect(largest).toBeLessThanOrEqual(5 * 1024 * 1024)
    expect(history.dropped).toBe(0)
    expect((await history.list({ limit: 1 })).calls[0]?.args).toMatchObject({ round: 39, n: 99 })
    const kept = await allOf(history, { limit: 1_000 })
    expect(kept.length).toBeGreaterThan(300)
    expect(kept.length).toBeLessThan(3_900)
  }, 60_000)

  it('imports what one-shot commands left next to it', async () => {
    const { spoolCalls } = await import('./spool.ts')
    const { history, executor, file } = await open()
    await executor.run({ name: 'echo', args: { by: 'history' } })
    const command = (await open({ file })).executor
    const stop = spoolCalls(command, file)
    await command.run({ name: 'echo', args: { by: 'command', token: 'abcdefgh' } }, { origin: 'cli' })
    stop()
    const kept = async () => {
      const { calls } = await history.list({ q: 'command' })
      return calls.map(({ origin, args }) => [origin, args])
    }
    await expect
      .poll(kept, { timeout: 10_000 })
      .toContainEqual(['cli', { by: 'command', token: '[removed]' }])
    expect(existsSync(`${file}.spool`)).toBe(false)
  })
})
