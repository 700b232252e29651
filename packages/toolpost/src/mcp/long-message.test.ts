import { describe, expect, it } from 'vitest'
import { MAX_KEYS } from '../runtime/sliced-json.ts'
import { parseLongMessage } from './long-message.ts'

const many = Object.fromEntries(Array.from({ length: MAX_KEYS + 1 }, (_, n) => [`k${n}`, { n: [n] }]))
const answer = (result: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, result })
const limits = { maxValues: 1_000_000 }

describe('an object with too many keys', () => {
  it('[F46] is left out of a list, and the rest of the list stays', async () => {
    const tools = [
      { name: 'before' },
      { name: 'large', inputSchema: { type: 'object', $defs: many } },
      { name: 'after', inputSchema: { type: 'object', properties: { a: { type: 'string' } } } },
    ]
    const { result } = (await parseLongMessage(answer({ tools }), limits)) as { result: { tools: unknown[] } }
    const note = `[an object with more than ${MAX_KEYS} keys]`
    expect(result.tools).toEqual([
      tools[0],
      { name: 'large', inputSchema: { type: 'object', $defs: note } },
      tools[2],
    ])
  })

  it('is not left out of the result of a call, which would be wrong without it', async () => {
    const text = answer({ content: [], structuredContent: { many } })
    await expect(parseLongMessage(text, limits)).rejects.toThrow(`more than ${MAX_KEYS} keys`)
  })
})
