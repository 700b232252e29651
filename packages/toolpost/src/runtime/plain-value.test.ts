import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonWriter } from './json-writer.ts'
import { type Cleaner, type PlainLimits, plainCopy } from './plain-value.ts'

const jsonText = (value: unknown) => new JsonWriter(value, { maxChars: 1_000_000 }).rest()

const LIMITS: PlainLimits = { maxDepth: 10, maxEntries: 5, maxBytes: 1_000, maxValues: 100 }
const copyOf = (value: unknown, limits: Partial<PlainLimits> = {}) =>
  plainCopy(value, { ...LIMITS, ...limits }).value

const throwing = (reason: unknown) =>
  new Proxy(
    {},
    {
      get: () => {
        throw reason
      },
      ownKeys: () => {
        throw reason
      },
      getPrototypeOf: () => {
        throw reason
      },
    },
  )

function nested(depth: number): unknown {
  let value: unknown = 'inside'
  for (let level = 0; level < depth; level++) value = level % 2 ? { a: value } : [value]
  return value
}

describe('a plain copy', () => {
  it('[F46] that is only wanted whole is cleaned no further than that, and its size is still told', () => {
    const asked: string[] = []
    const cleaner: Cleaner = {
      text: text => text,
      key: key => {
        asked.push(key)
        return key
      },
      secret: () => undefined,
    }
    const value = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`name${n}`, { n }]))
    const limits = { ...LIMITS, maxEntries: 1_000, maxValues: 10_000, cleaner }
    const { bytes } = plainCopy(value, limits)
    asked.length = 0
    expect(plainCopy(value, { ...limits, isWhole: true })).toMatchObject({ bytes, isComplete: true })
    expect(asked.length).toBeLessThan(150)
  })

  it.each([
    ['NaN', Number.NaN, 'NaN'],
    ['a bigint', 5n, '5'],
    ['a function in a list', [() => 1], ['[function]']],
    ['what JSON leaves out', { a: undefined, b: () => 1, c: Symbol('c'), d: 1 }, { d: 1 }],
    ['nothing in a list', [undefined, null], [null, null]],
    ['a map', new Map([[{ a: 1 }, 2]]), [[{ a: 1 }, 2]]],
    ['a set', new Set([1, 'b']), [1, 'b']],
    [
      'a date',
      { at: new Date(0), no: new Date(Number.NaN) },
      { at: '1970-01-01T00:00:00.000Z', no: 'Invalid Date' },
    ],
    ['an error', new TypeError('x'), { name: 'TypeError', message: 'x' }],
    ['bytes', [Buffer.from('abc'), new ArrayBuffer(4)], ['[3 bytes]', '[4 bytes]']],
    ['boxes', [new String('a'), new Number(1), new Boolean(false)], ['a', 1, false]],
    ['toJSON', { toJSON: () => ({ a: 1n }) }, { a: '1' }],
    ['many entries', [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, '… 2 more']],
    [
      'a throwing toJSON',
      { toJSON: () => Promise.reject.call(null) },
      expect.stringContaining('[unreadable: '),
    ],
    [
      'a throwing proxy',
      [throwing(new Error('no')), throwing(throwing(1))],
      ['[unreadable: no]', '[unreadable]'],
    ],
  ])('has a defined form for %s', (_what, value, copy) => {
    expect(copyOf(value)).toEqual(copy)
  })

  it('marks a cycle, but not the same value twice', () => {
    const shared = { s: 1 }
    const value: Record<string, unknown> = { a: shared, b: shared }
    value.self = value
    expect(copyOf(value)).toEqual({ a: { s: 1 }, b: { s: 1 }, self: '[circular]' })
  })

  it('keeps what can be read next to what cannot', () => {
    const value = {
      a: 1,
      get b() {
        throw new Error('no')
      },
      c: 3,
    }
    expect(copyOf(value)).toEqual({ a: 1, b: '[unreadable: no]', c: 3 })
  })

  it('stops at its depth, at its bytes and at its number of values, and says so', () => {
    expect(JSON.stringify(copyOf(nested(100_000)))).toContain('[…]')
    expect(copyOf(['x'.repeat(900), 'y'.repeat(900)])).toEqual(['x'.repeat(900), '[…]'])
    let branching: unknown = 1
    for (let level = 0; level < 60; level++) branching = [branching, branching]
    const { bytes, isComplete } = plainCopy(branching, { ...LIMITS, maxDepth: 64, maxEntries: 1_000 })
    expect(isComplete).toBe(false)
    expect(bytes).toBeLessThan(10_000)
  })

  it('does not set a prototype', () => {
    const copy = copyOf(JSON.parse('{"__proto__": {"polluted": 1n}}'.replace('1n', '1'))) as Record<
      string,
      unknown
    >
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(copy.polluted).toBeUndefined()
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":1}}')
  })
})

describe('JSON of any value', () => {
  it('is what JSON.stringify writes, if that can write it', () => {
    fc.assert(fc.property(fc.jsonValue(), value => jsonText(value) === JSON.stringify(value)))
  })

  it('is always JSON', () => {
    const odd = fc.oneof(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withNullPrototype: true,
        withSparseArray: true,
      }),
      fc.constantFrom<unknown>(throwing(new Error('no')), nested(5_000), new Error('x'), Number.NaN, () => 1),
    )
    fc.assert(
      fc.property(odd, odd, (a, b) => {
        const text = jsonText({ a, list: [b] })
        expect(() => JSON.parse(text)).not.toThrow()
      }),
    )
  })

  it('[F32] of a value nested 100,000 deep, or branching without end, is JSON that says what is left out', () => {
    let branching: unknown = 1
    for (let level = 0; level < 100; level++) branching = { left: branching, right: branching }
    for (const value of [nested(100_000), branching, new Array(2 ** 32 - 1)]) {
      const text = jsonText({ value })
      expect(() => JSON.parse(text)).not.toThrow()
      expect(text).toMatch(/\[…\]|omitted/)
    }
  })
})
