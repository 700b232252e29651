import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCalculation } from './calculation.ts'
import { readNumber } from './numbers.ts'
import { wordsOf } from './words.ts'

describe('numbers in figures and words', () => {
  it.each([
    ['30', 30, 1],
    ['2.5', 2.5, 1],
    ['1,200', 1_200, 1],
    ['1,200.5', 1_200.5, 1],
    ['-4', -4, 2],
    ['minus four', -4, 2],
    ['zero', 0, 1],
    ['seventeen', 17, 1],
    ['thirty', 30, 1],
    ['thirty five', 35, 2],
    ['thirty-five percent', 35, 1],
    ['a hundred', 100, 2],
    ['one hundred and five', 105, 4],
    ['two hundred thirty-one', 231, 3],
    ['three thousand two hundred', 3_200, 4],
    ['one million', 1_000_000, 2],
    ['five and six', 5, 1],
    ['thirty twelve', 30, 1],
    ['one two', 1, 1],
  ])('%s is %d', (text, value, used) => {
    expect(readNumber(wordsOf(text), 0)).toEqual({ value, used })
  })

  it.each(['', 'hundred', 'lamp', 'a lamp', 'and', 'minus', 'constructor'])('"%s" is none', text => {
    expect(readNumber(wordsOf(text), 0)).toBeUndefined()
  })
})

describe('calculations', () => {
  const read = (text: string) => readCalculation(wordsOf(text), text)

  it.each([
    ['12 % of 85', '12 % of 85'],
    ['2*(3+4)', '2*(3+4)'],
    ['5!', '5!'],
    ['twelve times seven', '12 * 7'],
    ['ten divided by four', '10 / 4'],
    ['two to the power of eight', '2 ^ 8'],
    ['the square root of 81', 'sqrt(81)'],
    ['100 km in miles', '100 km to miles'],
    ['1,000 + 5', '1000 + 5'],
    ['max(1,200)', 'max(1,200)'],
    ['pi', 'pi'],
  ])('%s is %s', (text, expression) => {
    expect(read(text)).toBe(expression)
  })

  it.each(['the weather', 'love', 'times', 'of', '5 apples', 'the time in Tokyo', ''])(
    '"%s" is none',
    text => {
      expect(read(text)).toBeUndefined()
    },
  )

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), text => {
        const words = wordsOf(text)
        readCalculation(words, text)
        for (let at = -1; at <= words.length; at++) readNumber(words, at)
      }),
    )
  })
})
