import { describe, expect, it } from 'vitest'
import { HEARINGS, hasTimeFor, isUnsure, surest } from './hearings.ts'
import type { Listened } from './transcriber.ts'

const heard = (score: number, ...sentences: number[]): Listened => ({
  text: 'hm',
  score,
  sentences: sentences.map(one => ({ text: 'turn it on', score: one })),
})

describe('another hearing', () => {
  it.each([
    [heard(-1, -2, -9), false],
    [heard(-8, -6), false],
    [heard(-1, -7), true],
    [heard(-1), true],
  ])('is needed if no sentence is near what was heard freely (%#)', (first, expected) => {
    expect(isUnsure(first)).toBe(expected)
  })

  it('searches more widely than the one before it, and from another frame', () => {
    for (const [at, { beam, silenceBefore, timesAsLong }] of [...HEARINGS.entries()].slice(1)) {
      const before = HEARINGS[at - 1] as (typeof HEARINGS)[number]
      expect(beam.first.width).toBeGreaterThan(before.beam.first.width)
      expect(timesAsLong).toBeGreaterThan(before.timesAsLong)
      expect(silenceBefore).not.toBe(before.silenceBefore)
    }
  })

  it.each([
    [{ firstMs: 150, elapsedMs: 180 }, [true, true]],
    [{ firstMs: 220, elapsedMs: 250 }, [true, false]],
    [{ firstMs: 500, elapsedMs: 530 }, [false, false]],
    [{ firstMs: 100, elapsedMs: 800 }, [false, false]],
  ])('is not begun if it would end too late (%j)', (times, expected) => {
    expect(HEARINGS.slice(1).map(hearing => hasTimeFor(hearing, times))).toEqual(expected)
  })

  it('counts if a sentence is nearer in it', () => {
    const [first, nearer, further] = [heard(-3, -12), heard(-2, -4), heard(-1, -15)]
    expect(surest(first, [nearer])).toBe(nearer)
    expect(surest(first, [further, nearer])).toBe(nearer)
    expect(surest(first, [further])).toBe(first)
    expect(surest(heard(-3), [heard(-1)])).toMatchObject({ score: -3 })
    expect(surest(heard(-3), [first])).toBe(first)
    expect(surest(first, [])).toBe(first)
  })
})
