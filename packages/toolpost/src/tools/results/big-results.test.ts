import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../../executor/tool-executor.ts'
import { fakeClock } from '../../testing/index.ts'
import { ToolManager } from '../tool-manager.ts'
import { BigResults } from './big-results.ts'
import { ResultStore } from './result-store.ts'

const ANN = { caller: 'ann', conversation: '1' }

const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] }))
const success = (result: unknown) =>
  ({ success: true, result, tool_name: 't', execution_time_ms: 1 }) as const

/** Runs `read_result` as a model would. */
function reading(big: BigResults, owner = ANN) {
  const executor = new ToolExecutor(new ToolManager())
  const also = [big.tool(owner)]
  return async (args: object) => executor.text(await executor.run({ name: 'read_result', args }, { also }))
}

describe('a result that is too long for a model', () => {
  const big = new BigResults({ maxTextBytes: 10_000 })

  it('is read by its ends, its size, its shape and its handle', async () => {
    const short = await big.shorten(success({ rows, total: 2_000 }), ANN)
    expect(short?.text).toMatch(/^\{"rows":\[\{"id":0/)
    expect(short?.text).toContain('an object with rows (list of 2,000), total (number)')
    expect(short?.text).toMatch(/The whole result is kept for 60 minutes as result:\/\/[0-9a-f-]{36}/)
    expect(short?.text.length).toBeLessThan(10_000)
  })

  it('of a tool that fits is left alone', async () => {
    expect(await big.shorten(success('x'.repeat(10_000)), ANN)).toBeUndefined()
    expect(await big.shorten(success({ a: 1 }), ANN)).toBeUndefined()
  })

  it('is read in parts: a range, matching lines, a path', async () => {
    const kept = (await big.shorten(success({ rows, total: 2_000 }), ANN))?.kept
    const read = reading(big)
    const handle = kept?.handle
    expect(await read({ handle, offset: 2, length: 4 })).toMatch(/^rows\n\[2 to 6 of \d+ characters\]$/)
    expect(await read({ handle, path: 'rows[1999].name' })).toBe('row 1999')
    expect(await read({ handle, path: "length(rows[?contains(name, '99')])" })).toBe('38')
    const text = Array.from({ length: 5_000 }, (_, line) => `line ${line} of many words`).join('\n')
    const lines = (await big.shorten(success(text), ANN))?.kept
    expect(await read({ handle: lines?.handle, grep: '^line 4[0-9]99' })).toMatch(
      /^4100: line 4099 of many words\n4200/,
    )
    expect(await read({ handle: lines?.handle, grep: 'nowhere' })).toBe('No line matches')
  })

  it.each([
    [{ path: 'rows[' }, /^Error: Invalid path: /],
    [{ grep: '(' }, /^Error: Invalid pattern: /],
    [{ offset: 10_000_000 }, /^There is nothing at 10000000/],
  ])('says what is wrong with %j', async (args, words) => {
    const handle = (await big.shorten(success(rows), ANN))?.kept.handle
    expect(await reading(big)({ handle, ...args })).toMatch(words)
  })

  it('belongs to the caller and the conversation that made it', async () => {
    const handle = (await big.shorten(success(rows), ANN))?.kept.handle
    const words = `Error: There is no result ${handle} here: it expired, or belongs to another conversation`
    expect(await reading(big, { ...ANN, conversation: '2' })({ handle })).toBe(words)
    expect(await reading(big, { ...ANN, caller: 'bob' })({ handle })).toBe(words)
    expect(await reading(big)({ handle: 'result://made-up' })).toContain('There is no result')
  })
})

describe('ResultStore', () => {
  const text = (size: number) => Buffer.alloc(size, 'x')

  it('keeps the newest within its size, in memory and then in files that go with it', async () => {
    const store = new ResultStore({ maxBytes: 1_000, memoryBytes: 300 })
    const kept = Array.from({ length: 12 }, () => store.keep(text(100), 'text/plain', ANN)?.handle ?? '')
    expect(await Promise.all(kept.map(async handle => (await store.read(handle, ANN))?.length))).toEqual([
      undefined,
      undefined,
      ...Array.from({ length: 10 }, () => 100),
    ])
    expect(store.keep(text(1_001), 'text/plain', ANN)).toBeUndefined()
    await store.close()
    expect(await store.read(kept[11] ?? '', ANN)).toBeUndefined()
    const left = (await readdir(tmpdir())).filter(name => name.startsWith('toolpost-results-'))
    expect(left).toEqual([])
  })

  it('forgets a result after its time', async () => {
    const clock = fakeClock()
    const store = new ResultStore({ maxAgeMs: 1_000, clock })
    const handle = store.keep(text(10), 'text/plain', ANN)?.handle ?? ''
    await clock.advance(999)
    expect(store.find(handle, ANN)).toMatchObject({ bytes: 10 })
    await clock.advance(1)
    expect(store.find(handle, ANN)).toBeUndefined()
  })
})
