import { describe, expect, it } from 'vitest'
import { childrenOf, firstOpen, pathText, rootOf, rowsTo, searchTree, visibleRows } from './json-tree.ts'

function found(value: unknown, words: string): string[] {
  const search = searchTree(value, words)
  for (;;) {
    const { done, value: paths } = search.next()
    if (done) return paths.map(pathText)
  }
}

describe('JSON as a tree', () => {
  it('opens as much as fits a screen, and no more', () => {
    const small = rootOf({ a: { b: [1, 2] }, c: null })
    expect(visibleRows(small, firstOpen(small)).map(({ path }) => pathText(path))).toEqual([
      '$',
      '$.a',
      '$.a.b',
      '$.a.b[0]',
      '$.a.b[1]',
      '$.c',
    ])
    const large = rootOf({ list: Array.from({ length: 500 }, () => ({ deep: { deeper: 1 } })) })
    expect(visibleRows(large, firstOpen(large)).length).toBeLessThan(10)
  })

  it('shows a long list in ranges, and leads to every value in it', () => {
    const list = Array.from({ length: 1_234_567 }, (_, at) => ({ at }))
    const root = rootOf(list)
    expect(childrenOf(root).map(({ range }) => range)).toEqual([
      [0, 1_000_000],
      [1_000_000, 1_234_567],
    ])
    const way = rowsTo(root, [1_234_566, 'at'])
    expect(way.at(-1)).toMatchObject({ path: [1_234_566, 'at'], value: 1_234_566 })
    const rows = visibleRows(root, new Set(way.map(({ id }) => id)))
    expect(rows.length).toBeLessThan(3_000)
    expect(rows.some(({ id }) => id === way.at(-1)?.id)).toBe(true)
  })

  it('finds keys and values, first things first, whatever they are called', () => {
    const value = { name: 'Kitchen', inner: [{ kitchen: 1 }, { x: null }], 'a b': 'KITCHEN' }
    expect(found(value, 'kitchen')).toEqual(['$.name', '$.inner[0].kitchen', '$["a b"]'])
    expect(found(value, 'null')).toEqual(['$.inner[1].x'])
    expect(found(JSON.parse('{"__proto__": {"a": 1}}'), 'proto')).toEqual(['$.__proto__'])
  })

  it('gives control back over a long value', () => {
    const search = searchTree(Array(100_000).fill('x'), 'nothing')
    expect(search.next().done).toBe(false)
  })
})
