import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { fakeClock } from '../testing/index.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { BigResults } from './long-results.ts'

const ANN = { caller: 'ann', conversation: '1' }

const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] }))
const success = (result: unknown) =>
  ({ success: true, result, tool_name: 't', execution_time_ms: 1 }) as const

/** What a model reads of a result, and its handle. */
async function shortened(big: BigResults, value: unknown) {
  const { text } = big.keptOf(await big.keep(success(value), ANN)) ?? {}
  return text && { text: text.summary, handle: text.handle }
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
    const shortLived = new BigResults({ maxTextBytes: 10_000, clock })
    const handle = (await shortened(shortLived, rows))?.handle
    await clock.advance(3_600_000)
    expect(await reading(shortLived)({ handle })).toMatch(
      `Error: The result ${handle} has expired: results are kept for 60 minutes`,
    )
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
    const [image] = kept?.binaries ?? []
    expect(image?.summary).toBe(`[image image/png, 30,000 bytes: kept for 60 minutes as ${image?.handle}]`)
    expect(result).toMatchObject({
      handle: image?.handle,
      kept: [
        { block: 1, mimeType: 'image/png', bytes: 30_000 },
        { block: 2, mimeType: 'application/octet-stream', bytes: 30_000 },
      ],
    })
    expect(await reading(big)({ handle: image?.handle })).toContain('cannot be read as text')
  })
})
