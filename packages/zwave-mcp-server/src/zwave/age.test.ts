import { expect, it } from 'vitest'
import { sayAge } from './age.ts'

it.each([
  [0, 'just now'],
  [1_999, 'just now'],
  [12_300, '12 seconds ago'],
  [60_000, '1 minute ago'],
  [3_600_000 * 3, '3 hours ago'],
  [86_400_000, '1 day ago'],
])('says %i ms as %s', (ageMs, words) => {
  expect(sayAge(ageMs)).toBe(words)
})
