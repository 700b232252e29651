import { expect, it } from 'vitest'
import { toPercent, toZwaveLevel } from './levels.ts'

it('maps 0–100 to 0–99 and back: every level but 99 comes back as it was', () => {
  const levels = Array.from({ length: 101 }, (_, level) => level)
  expect(levels.map(toZwaveLevel)).toEqual(levels.map(level => Math.min(level, 99)))
  expect(levels.map(level => toPercent(toZwaveLevel(level)))).toEqual(
    levels.map(level => (level === 99 ? 100 : level)),
  )
})

it('rounds fractional levels', () => {
  expect([toZwaveLevel(33.4), toZwaveLevel(0.4), toZwaveLevel(99.6)]).toEqual([33, 0, 99])
})
