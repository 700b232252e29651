import fc from 'fast-check'
import { expect, it } from 'vitest'
import { nextDrift } from './drift.ts'

it('moves at every step and stays within its bounds', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 20, max: 40 }),
      fc.integer({ min: 1, max: 5 }),
      (min, range, step) => {
        const drift = { min, max: min + range, step, everyMs: 1 }
        let state: { value: number; direction: 1 | -1 } = { value: min, direction: 1 }
        for (let i = 0; i < 100; i++) {
          const next = nextDrift(state.value, state.direction, drift)
          expect(Math.abs(next.value - state.value)).toBe(step)
          expect(next.value).toBeGreaterThanOrEqual(drift.min)
          expect(next.value).toBeLessThanOrEqual(drift.max)
          state = next
        }
      },
    ),
  )
})

it('does not pile up rounding errors', () => {
  expect(nextDrift(21.5, 1, { step: 0.1, min: 19, max: 24, everyMs: 1 }).value).toBe(21.6)
})
