import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_MESSAGE_DEPTH, parseInSlices } from './sliced-json.ts'

const limits = { maxValues: 1_000_000 }

describe('JSON in slices', () => {
  it('reads what JSON.parse reads, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.json({ maxDepth: 6 }),
        fc.nat(),
        fc.string({ unit: 'binary' }),
        async (json, at, junk) => {
          expect(await parseInSlices(json, limits)).toEqual(JSON.parse(json))
          const spoiled =
            json.slice(0, at % (json.length + 1)) + junk + json.slice((at % (json.length + 1)) + 1)
          const outcome = (parse: () => unknown) =>
            Promise.resolve()
              .then(parse)
              .then(
                value => ({ value }),
                () => 'refused',
              )
          expect(await outcome(() => parseInSlices(spoiled, limits))).toEqual(
            await outcome(() => JSON.parse(spoiled)),
          )
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    ['escapes at every border between parts', JSON.stringify('\\"\u0001é😀\n'.repeat(30_000))],
    ['half a surrogate pair', '"\\ud83d"'],
    ['blanks everywhere', ' { "a" : [ 1 , { } , [ ] ] , "b" : "" } '],
    ['a long key', JSON.stringify({ ['k"'.repeat(20_000)]: 1 })],
  ])('reads %s', async (_, json) => {
    expect(await parseInSlices(json, limits)).toEqual(JSON.parse(json))
  })

  it('[F29] keeps __proto__ as a property of its own', async () => {
    const value = (await parseInSlices('{"__proto__":{"a":1}}', limits)) as object
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(value)).toEqual(['__proto__'])
  })

  it('[F49] refuses more values or levels than permitted', async () => {
    await expect(parseInSlices(`[${'{},'.repeat(20)}1]`, { maxValues: 10 })).rejects.toThrow(
      'has more than 10 values',
    )
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    await expect(parseInSlices(deep, limits)).rejects.toThrow(
      `is nested more than ${MAX_MESSAGE_DEPTH} levels deep`,
    )
  })

  it('[F49] lets the rest of the program in', async () => {
    let turns = 0
    const probe = setInterval(() => turns++, 1)
    await parseInSlices(`[${'{},'.repeat(400_000)}1]`, limits)
    clearInterval(probe)
    expect(turns).toBeGreaterThan(5)
  })
})
