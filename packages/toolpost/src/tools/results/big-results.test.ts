import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ToolExecutor } from '../../executor/executor.ts'
import { fakeClock } from '../../testing/index.ts'
import { ToolManager } from '../tool-manager.ts'
import { BigResults } from './big-results.ts'
import { createResultStore, onlyFor, type ResultStore } from './result-store.ts'

const ANN = { caller: 'ann', conversation: '1' }

const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] }))
const success = (result: unknown) =>
  ({ success: true, result, tool_name: 't', execution_time_ms: 1 }) as const

/** What a model reads of a result, and its handle. */
async function shortened(big: BigResults, value: unknown, owner = ANN) {
  const kept = big.keptOf(await big.keep(success(value), owner))
  return kept?.text && { text: kept.text.summary, handle: kept.text.handle, mimeType: kept.text.mimeType }
}

/** Runs `read_result` as a model would. */
function reading(big: BigResults, owner = ANN) {
  const executor = new ToolExecutor(new ToolManager())
  const also = [big.tool(owner)]
  return async (args: object) => executor.text(await executor.run({ name: 'read_result', args }, { also }))
}

describe('a result that is too long for a model', () => {
  const big = new BigResults({ maxTextBytes: 10_000 })

  it('is summarised by its ends, its size, its shape and its handle', async () => {
    const short = await shortened(big, { rows, total: 2_000 })
    expect(short?.text).toMatch(/^\{"rows":\[\{"id":0/)
    expect(short?.text).toContain('an object with rows (list of 2,000), total (number)')
    expect(short?.text).toMatch(/The whole result is kept for 60 minutes as result:\/\/[0-9a-f-]{36}/)
    expect(short?.text.length).toBeLessThan(10_000)
  })

  it('of a tool that fits is left alone', async () => {
    expect(await shortened(big, 'x'.repeat(10_000))).toBeUndefined()
    expect(await shortened(big, { a: 1 })).toBeUndefined()
  })

  it('is read in parts: a range, matching lines, a path', async () => {
    const kept = await shortened(big, { rows, total: 2_000 })
    const read = reading(big)
    const handle = kept?.handle
    expect(await read({ handle, offset: 2, length: 4 })).toMatch(/^rows\n\[2 to 6 of \d+ characters\]$/)
    expect(await read({ handle, path: 'rows[1999].name' })).toBe('row 1999')
    expect(await read({ handle, path: "length(rows[?contains(name, '99')])" })).toBe('38')
    const text = Array.from({ length: 5_000 }, (_, line) => `line ${line} of many words`).join('\n')
    const lines = await shortened(big, text)
    expect(await read({ handle: lines?.handle, grep: '^line 4[0-9]99' })).toMatch(
      /^4100: line 4099 of many words\n4200/,
    )
    expect(await read({ handle: lines?.handle, grep: 'nowhere' })).toBe('No line matches')
  })

  it.each([
    [{ path: 'rows[' }, /^Error: Invalid path: /],
    [{ grep: '(' }, /^Error: Invalid pattern: /],
    [{ offset: 10_000_000 }, /^Nothing at offset 10000000/],
  ])('says what is wrong with %j', async (args, words) => {
    const handle = (await shortened(big, rows))?.handle
    expect(await reading(big)({ handle, ...args })).toMatch(words)
  })

  it('belongs to the caller and the conversation that made it', async () => {
    const handle = (await shortened(big, rows))?.handle
    const words = `Error: The result ${handle} belongs to another caller or conversation`
    expect(await reading(big, { ...ANN, conversation: '2' })({ handle })).toBe(words)
    expect(await reading(big, { ...ANN, caller: 'bob' })({ handle })).toBe(words)
    expect(await reading(big)({ handle: 'result://made-up' })).toContain(
      'There is no result result://made-up',
    )
  })

  it('says that it has expired', async () => {
    const clock = fakeClock()
    const shortLived = new BigResults({ maxTextBytes: 10_000, maxAgeMs: 60_000, clock })
    const handle = (await shortened(shortLived, rows))?.handle
    await clock.advance(60_000)
    expect(await reading(shortLived)({ handle })).toMatch(
      `Error: The result ${handle} has expired: results are kept for 1 minutes`,
    )
  })

  it('is told by its keys if a server sends JSON as text', async () => {
    const short = await shortened(big, JSON.stringify({ rows, total: 2_000 }))
    expect(short).toMatchObject({ mimeType: 'application/json' })
    expect(short?.text).toContain('an object with rows (list of 2,000), total (number)')
    const notJson = await shortened(big, `{"rows": ${'[x] '.repeat(5_000)}`)
    expect(notJson).toMatchObject({ mimeType: 'text/plain' })
  })

  it('is kept with its binary content, each under a handle of its own', async () => {
    const data = Buffer.alloc(30_000, 7).toString('base64')
    const content = [
      { type: 'text', text: 'a picture and a file' },
      { type: 'image', data, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///x', blob: data, mimeType: 'text/html; x="\r\n' } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ]
    const result = { ...success(content), text: 'a picture and a file' }
    const kept = big.keptOf(await big.keep(result, ANN))
    expect(kept?.text).toBeUndefined()
    expect(kept?.binaries).toMatchObject([
      { mimeType: 'image/png', bytes: 30_000 },
      { mimeType: 'application/octet-stream', bytes: 30_000 },
    ])
    const [image] = kept?.binaries ?? []
    expect(image?.summary).toBe(`[image image/png, 30,000 bytes: kept for 60 minutes as ${image?.handle}]`)
    expect(result).toMatchObject({ handle: image?.handle, kept: [{ block: 1 }, { block: 2 }] })
    expect(await reading(big)({ handle: image?.handle })).toContain('cannot be read as text')
  })

  it('stays as it is if it cannot be looked at', async () => {
    const hostile = new Proxy([], {
      get() {
        throw new Error('no')
      },
    })
    const result = success(hostile)
    expect(await big.keep(result, ANN)).toBe(result)
  })
})

describe('kept results', () => {
  let ownFolder: string
  beforeEach(async () => {
    ownFolder = await mkdtemp(join(tmpdir(), 'toolpost-store-'))
    for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, ownFolder)
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await rm(ownFolder, { recursive: true })
  })
  const mine = onlyFor(ANN)
  const keep = (store: ResultStore, size: number) =>
    store.keep({ content: Buffer.alloc(size, 'x'), mimeType: 'text/plain', owner: ANN, summary: () => '' })
      ?.handle ?? ''
  const bytesOf = async (store: ResultStore, handle: string) => {
    const found = await store.read(handle, mine)
    return typeof found === 'string' ? found : found.content.length
  }

  it('keeps the newest within its size, in memory and then in files that go with it', async () => {
    const store = createResultStore({ maxBytes: 1_000, memoryBytes: 300 })
    const kept = Array.from({ length: 12 }, () => keep(store, 100))
    expect(await Promise.all(kept.map(handle => bytesOf(store, handle)))).toEqual([
      'expired',
      'expired',
      ...Array.from({ length: 10 }, () => 100),
    ])
    expect(keep(store, 1_001)).toBe('')
    await store.close()
    expect(await bytesOf(store, kept[11] ?? '')).toBe('expired')
    expect(await readdir(ownFolder)).toEqual([])
  })
})
