import { describe, expect, it } from 'vitest'
import { idOfLongLine, LineReader, type LongLine } from './line-reader.ts'

function readerWith(limits: { maxLineBytes?: number; endlessLineBytes?: number } = {}) {
  const lines: string[] = []
  const long: LongLine[] = []
  const endless: number[] = []
  const reader = new LineReader(
    {
      line: line => void lines.push(line),
      tooLong: line => void long.push(line),
      endless: bytes => void endless.push(bytes),
    },
    limits,
  )
  return {
    reader,
    lines,
    long,
    endless,
    push: (...texts: string[]) => {
      for (const text of texts) reader.push(Buffer.from(text))
    },
  }
}

describe('LineReader', () => {
  it('gives the same lines, however the bytes arrive', () => {
    const text = 'first\nsecond, with ünïcödé 🎈\n\nlast\n'
    for (const size of [1, 2, 3, 7, 100]) {
      const { reader, lines } = readerWith()
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
      expect(lines).toEqual(['first', 'second, with ünïcödé 🎈', '', 'last'])
      expect(reader.rest()).toBe('')
    }
  })

  it('keeps what has no end yet', () => {
    const { reader, lines, push } = readerWith()
    push('whole\nha', 'lf')
    expect(lines).toEqual(['whole'])
    expect(reader.rest()).toBe('half')
  })

  it('[F14] keeps both ends of a line over the limit, and goes on behind it', () => {
    const { lines, long, push } = readerWith({ maxLineBytes: 10 })
    push('a\n', 'head', 'x'.repeat(5_000), 'y'.repeat(5_000), 'tail\nb\n')
    expect(lines).toEqual(['a', 'b'])
    expect(long.map(({ ended, bytes }) => [ended, bytes])).toEqual([
      [false, 5_004],
      [true, 10_008],
    ])
    expect(long[1]?.head).toMatch(/^headx+$/)
    expect(long[1]?.tail).toMatch(/^y+tail$/)
  })

  it('[F14] finds a line over the limit among others in one chunk', () => {
    const { lines, long, push } = readerWith({ maxLineBytes: 10 })
    push(`short\n${'x'.repeat(11)}\n1234567890\n`)
    expect(lines).toEqual(['short', '1234567890'])
    expect(long.filter(line => line.ended)).toHaveLength(1)
  })

  it('[F13] gives up on a line without end, and reads nothing more', () => {
    const { lines, endless, push } = readerWith({ maxLineBytes: 10, endlessLineBytes: 100 })
    push('x'.repeat(60), 'x'.repeat(60), 'x'.repeat(60), '\nnext\n')
    expect(endless).toEqual([120])
    expect(lines).toEqual([])
  })
})

describe('idOfLongLine', () => {
  const idOf = (head: string, tail = '') => idOfLongLine({ head, tail })

  it.each([
    ['{"jsonrpc":"2.0","id":7,"result":{"content":[', ''],
    ['{"id": 7, "jsonrpc": "2.0", "result": {', ''],
    ['{"result":{"content":[{"type":"text","text":"', '"}]},"jsonrpc":"2.0","id":7}'],
    ['{"result":{', 'x"}]}, "id": 7 }'],
  ])('finds it where servers put it: %s … %s', (head, tail) => {
    expect(idOf(head, tail)).toBe(7)
  })

  it.each([
    ['{"result":{"id":7,', ''],
    ['{"result":{"rows":[', '{"name":"x","id":7}]}}'],
    ['{"result":{"row":', '{"name":"x","id":7}}'],
    ['{"jsonrpc":"2.0","method":"x","params":{"id":7,', ''],
    ['no message at all', 'id 7'],
  ])('does not take an id of the result for it: %s … %s', (head, tail) => {
    expect(idOf(head, tail)).toBeUndefined()
  })
})
