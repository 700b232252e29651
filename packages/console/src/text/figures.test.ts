import { expect, it } from 'vitest'
import { durationText } from './figures.ts'

it.each([
  [0.04, '0.04 ms'],
  [0.996, '1 ms'],
  [9.96, '10 ms'],
  [999.6, '1.00 s'],
  [59_960, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [125_000, '2 min 5 s'],
  [3_599_700, '1 h 0 min'],
  [93_600_000, '1 day 2 h'],
])('shows %d ms as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text)
})
