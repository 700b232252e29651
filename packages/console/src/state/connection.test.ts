import { describe, expect, it } from 'vitest'
import { retryDelayMs } from './connection.ts'

describe('a lost gateway', () => {
  it('is tried again at once, then ever more rarely, but never less than every five seconds', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map(retryDelayMs)).toEqual([0, 500, 1_000, 2_000, 4_000, 5_000, 5_000])
  })
})
