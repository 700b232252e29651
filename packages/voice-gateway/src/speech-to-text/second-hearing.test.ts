import { describe, expect, it } from 'vitest'
import { hasTimeForAnother, isUnsure, surer } from './second-hearing.ts'
import type { Listened } from './transcriber.ts'

const heard = (score: number, ...sentences: number[]): Listened => ({
  text: 'hm',
  score,
  sentences: sentences.map(one => ({ text: 'turn it on', score: one })),
})

describe('a second hearing', () => {
  it.each([
    [heard(-1, -2, -9), false],
    [heard(-8, -6), false],
    [heard(-1, -7), true],
    [heard(-1), true],
  ])('is needed if no sentence is near what was heard freely (%#)', (first, expected) => {
    expect(isUnsure(first)).toBe(expected)
  })

  it.each([
    [{ tookMs: 300, elapsedMs: 330 }, true],
    [{ tookMs: 500, elapsedMs: 530 }, false],
    [{ tookMs: 200, elapsedMs: 700 }, false],
  ])('is not begun if it would end too late (%j)', (times, expected) => {
    expect(hasTimeForAnother(times)).toBe(expected)
  })

  it('counts if a sentence is nearer in it', () => {
    const [first, nearer, further] = [heard(-3, -12), heard(-2, -4), heard(-1, -15)]
    expect(surer(first, nearer)).toBe(nearer)
    expect(surer(first, further)).toBe(first)
    expect(surer(heard(-3), heard(-1))).toMatchObject({ score: -3 })
    expect(surer(heard(-3), first)).toBe(first)
  })
})
