import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutLoop } from './repetition.ts'

describe('withoutLoop', () => {
  it('says a sequence once that comes again and again', () => {
    expect(withoutLoop([9, 8, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3])).toEqual([9, 8, 1, 2, 3])
    expect(withoutLoop([9, 5, 5, 5, 5, 5, 5])).toEqual([9, 5])
  })

  it('leaves alone what is said a few times', () => {
    const tokens = [5, 5, 5, 5, 5, 1, 2, 1, 2, 1, 2]
    expect(withoutLoop(tokens)).toBe(tokens)
  })

  it('ends every loop soon', () => {
    const sequence = fc.array(fc.nat(9), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(fc.array(fc.nat(9)), sequence, (before, again) => {
        const tokens = [...before, ...Array(6).fill(again).flat()]
        expect(withoutLoop(tokens).length).toBeLessThan(tokens.length)
      }),
    )
  })
})
