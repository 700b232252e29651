import { describe, expect, it } from 'vitest'
import { rewritePercentages } from './math-percent.ts'

describe('rewritePercentages', () => {
  it.each([
    ['12 % of 85', '12 / 100 * 85'],
    ['12.5% of (80 + 5)', '12.5 / 100 * (80 + 5)'],
    ['100 - 12% of 85', '100 - 12 / 100 * 85'],
    ['50% of 12% of 85', '50 / 100 * 12 / 100 * 85'],
    ['sum(10% of 5, .5% of x)', 'sum(10 / 100 * 5, .5 / 100 * x)'],
    ['x = 3\n5% of x', 'x = 3\n5 / 100 * x'],
  ])('writes %s as %s', (expression, rewritten) => {
    expect(rewritePercentages(expression)).toBe(rewritten)
  })

  it.each([
    ['12 % 5', 'the remainder'],
    ['100 + 10%', 'what mathjs knows itself'],
    ['2 * 12% of 85', 'a product, which could be meant in two ways'],
    ['2^12% of 85', 'a power'],
    ['"12% of 85"', 'text'],
    ['12 % offset', 'a name that begins with of'],
  ])('leaves %s alone: %s', expression => {
    expect(rewritePercentages(expression)).toBe(expression)
  })
})
