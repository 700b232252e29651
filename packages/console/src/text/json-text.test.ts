import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText } from './json-text.ts'

describe('a value as JSON text', () => {
  it('is what JSON.stringify makes of it, whatever it is', () => {
    const plain = fc.jsonValue({ stringUnit: fc.constantFrom(...'ab"\\\n🙂') })
    fc.assert(
      fc.property(plain, fc.constantFrom(0, 2), (value, indent) => {
        expect(jsonText(value, 100_000, indent)).toEqual({
          text: JSON.stringify(value, null, indent),
          whole: true,
        })
      }),
    )
  })

  it('is cut where there is no more room, and says so', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(50), (value, limit) => {
        const { text, whole } = jsonText(value, limit)
        expect(whole).toBe(JSON.stringify(value, null, 2).length <= limit)
        if (!whole) expect(JSON.stringify(value, null, 2).slice(0, 5)).toContain(text.slice(0, 5))
      }),
    )
    expect(jsonText({ a: 'x'.repeat(100) }, 12, 0)).toEqual({ text: '{"a":"xxxxxx', whole: false })
  })

  it('[F33] has control characters escaped', () => {
    expect(jsonText({ a: '\u202e\u001b\u009b' }, 100, 0).text).toBe('{"a":"\\u202e\\u001b\\x9b"}')
    expect(jsonText(undefined, 100).text).toBe('nothing')
  })

  it('of 100,000 levels or ten million characters takes no time', () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level += 1) deep = { deep: [deep] }
    expect(jsonText(deep, 20_000)).toMatchObject({ text: expect.stringContaining('…'), whole: true })
    const huge = [deep, 'x'.repeat(10_000_000), Array(1_000_000).fill(0)]
    for (let time = 0; time < 50; time += 1) jsonText(huge, 20_000)
  })
})
