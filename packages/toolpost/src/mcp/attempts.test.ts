import { expect, it } from 'vitest'
import { failedDelayMs, reconnectDelayMs } from './attempts.ts'

it('a lost server: at once, then doubling up to half a minute', () => {
  expect([1, 2, 3, 4, 8, 9, 10, 5_000].map(reconnectDelayMs)).toEqual([
    0, 250, 500, 1_000, 16_000, 30_000, 30_000, 30_000,
  ])
})

it('a server that has failed: every minute, then doubling up to ten minutes', () => {
  expect([1, 2, 3, 4, 5, 6, 5_000].map(failedDelayMs)).toEqual([
    60_000, 120_000, 240_000, 480_000, 600_000, 600_000, 600_000,
  ])
})
