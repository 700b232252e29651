import { describe, expect, it } from 'vitest'
import { counted, durationText } from './figures.ts'

describe('figures', () => {
  it('of durations have the precision that a person needs', () => {
    const shown = [0.04, 0.42, 3.12, 9.96, 84.6, 1_340, 12_345, 125_000].map(durationText)
    expect(shown).toEqual(['0.04 ms', '0.4 ms', '3.1 ms', '10 ms', '85 ms', '1.34 s', '12.3 s', '2 min 5 s'])
  })

  it('of counts read as words', () => {
    expect([counted(1, 'call'), counted(1_200, 'call')]).toEqual(['1 call', '1,200 calls'])
  })
})
