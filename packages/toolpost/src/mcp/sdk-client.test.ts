import { describe, expect, it } from 'vitest'
import { MAX_LIST_PAGES, MAX_TOOLS } from './limits.ts'
import { type Lister, listAll } from './sdk-client.ts'

/** A server whose list has the pages that it is told to; counts them. */
function lister(pageAt: (cursor: unknown) => object) {
  const asked: unknown[] = []
  const link: Lister = {
    about: { capabilities: { tools: {} }, instructions: undefined, info: undefined },
    request: async (_method, params) => {
      const { cursor } = params as { cursor?: unknown }
      asked.push(cursor)
      return pageAt(cursor)
    },
  }
  return { link, asked }
}

describe('a list in pages', () => {
  it.each([
    ['to itself', { a: 'a' }],
    ['to one before', { a: 'b', b: 'c', c: 'a' }],
  ])(
    '[F51] whose cursor leads back %s ends there, with what it has',
    async (_, next: Record<string, string>) => {
      const { link, asked } = lister(cursor => ({
        tools: [{ name: `after ${cursor}` }],
        nextCursor: typeof cursor === 'string' ? next[cursor] : 'a',
      }))
      const { entries } = await listAll(link, 'tools')
      expect(asked).toEqual([undefined, ...Object.keys(next)])
      expect(entries).toHaveLength(asked.length)
    },
  )

  it('[F51] that never ends is an error that says so', async () => {
    let page = 0
    const { link, asked } = lister(() => ({ tools: [], nextCursor: `${++page}` }))
    await expect(listAll(link, 'tools')).rejects.toThrow(
      `its list of tools has more than ${MAX_LIST_PAGES} pages`,
    )
    expect(asked).toHaveLength(MAX_LIST_PAGES)
  })

  it('[F51] is cut behind the first entry too many, in a page or over several', async () => {
    const tools = Array.from({ length: MAX_TOOLS - 1 }, (_, n) => ({ name: `t${n}` }))
    let page = 0
    const { link, asked } = lister(() => ({ tools, nextCursor: `${++page}` }))
    const { entries, isCut } = await listAll(link, 'tools')
    expect([entries.length, isCut, asked.length]).toEqual([MAX_TOOLS + 1, true, 2])
  })

  it.each([null, 7, [], {}, { tools: {} }, { tools: null }])(
    'that is malformed is an error that says so: %j',
    async page => {
      const { link } = lister(() => page as object)
      await expect(listAll(link, 'tools')).rejects.toThrow('its list of tools is malformed')
    },
  )
})
