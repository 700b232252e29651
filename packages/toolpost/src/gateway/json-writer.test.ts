import { describe, expect, it } from 'vitest'
import { JsonWriter, RawJson } from '../runtime/json-writer.ts'
import { json } from './http/answers.ts'

const written = (value: unknown) => JSON.parse(new JsonWriter(value).rest())

describe('JSON of any value', () => {
  it.each([
    ['a record', { a: 1, b: [true, null, 'x\n"y"'], c: {}, d: [] }],
    ['a date', { at: new Date(0) }],
    ['what JSON leaves out', { gone: undefined, f: () => 1, list: [undefined, Symbol('s')] }],
    ['odd keys', { '': 1, '"': 2, '__proto__ ': 3 }],
    ['numbers', [0, -0, 1e21, -1.5e-7]],
    ['text with lone surrogates', ['\ud800', 'a\udc00b']],
    ['null', null],
  ])('is what JSON.stringify gives: %s', (_what, value) => {
    expect(new JsonWriter(value).rest()).toBe(JSON.stringify(value))
  })

  it('[F24 F32] says in words what JSON cannot say', () => {
    const cycle: Record<string, unknown> = { n: Number.NaN, big: 2n ** 70n, bytes: Buffer.from('abc') }
    cycle.self = [cycle]
    cycle.map = new Map([['a', 1]])
    cycle.error = new TypeError('no')
    expect(written(cycle)).toEqual({
      n: 'NaN',
      big: '1180591620717411303424',
      bytes: '[3 bytes]',
      self: ['[circular]'],
      map: [['a', 1]],
      error: { name: 'TypeError', message: 'no' },
    })
    const shared = { a: 1 }
    expect(written([shared, shared])).toEqual([shared, shared])
  })

  it('[F52] survives getters, proxies and toJSON that throw', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const hostile = {
      get bad() {
        throw new Error('boom')
      },
      proxy,
      json: {
        toJSON() {
          throw 'nothing printable'
        },
      },
    }
    const unreadable = expect.stringMatching(/^\[unreadable/)
    expect(written(hostile)).toEqual({ bad: '[unreadable: boom]', proxy: unreadable, json: '[unreadable]' })
  })

  it('cuts a text of any length into slices without harm', () => {
    const text = '😀"\n'.repeat(50_000)
    const writer = new JsonWriter({ text })
    let slices = 0
    let whole = ''
    for (; !writer.isDone || slices === 0; slices++) whole += writer.next()
    expect(JSON.parse(whole)).toEqual({ text })
    expect(slices).toBeGreaterThan(2)
  })

  it('[F45] is valid and bounded for a value without end: too deep, or the same part again and again', () => {
    let deep: unknown = 'bottom'
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(new JsonWriter(deep).rest()).toContain('[…]')
    expect(() => written(deep)).not.toThrow()
    let doubling: unknown = 1
    for (let level = 0; level < 60; level++) doubling = { a: doubling, b: doubling }
    const writer = new JsonWriter(doubling, { maxChars: 100_000 })
    const text = writer.rest()
    expect(text.length).toBeLessThan(110_000)
    expect(JSON.stringify(JSON.parse(text))).toContain('too large')
    expect(writer.isWhole).toBe(false)
  })

  it('[F52] of a number without end says how long it is, and smaller ones are whole', () => {
    expect(written({ n: 2n ** 3_000_000n })).toEqual({ n: '[an integer of about 903091 digits]' })
    expect(written({ n: -(10n ** 300n) })).toEqual({ n: `-1${'0'.repeat(300)}` })
  })

  it('[F52] of a proxy without end is read a few times for each character, not at every level anew', () => {
    let reads = 0
    const endless = (): object =>
      new Proxy(
        {},
        {
          ownKeys: () => ['a', 'b'],
          getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
          get: (_, key) => {
            reads++
            return key === 'toJSON' ? undefined : endless()
          },
        },
      )
    const text = new JsonWriter(endless(), { maxChars: 10_000 }).rest()
    expect(() => JSON.parse(text)).not.toThrow()
    expect(reads).toBeLessThan(4 * text.length)
  })

  it('takes JSON as it is where that is there already', () => {
    expect(written({ a: { toJSON: () => new RawJson('{"b":1}') } })).toEqual({ a: { b: 1 } })
  })

  it('leaves others their turn while a large answer is written', async () => {
    const rows = Array.from({ length: 200_000 }, (_, n) => ({ n, text: 'row' }))
    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const text = await json({ rows }).text()
    isOver = true
    expect(JSON.parse(text).rows).toHaveLength(200_000)
    expect(turns).toBeGreaterThan(20)
  })
})
