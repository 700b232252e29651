import { describe, expect, it } from 'vitest'
import { levelOf } from './level.ts'

const tone = (amplitude: number) =>
  Float32Array.from({ length: 480 }, (_, at) => amplitude * Math.sin((2 * Math.PI * at) / 48))

describe('the level of a voice', () => {
  it('goes from nothing to full as it gets louder', () => {
    const levels = [0, 0.001, 0.01, 0.1, 0.4, 1].map(amplitude => levelOf(tone(amplitude)))
    expect(levels[0]).toBe(0)
    expect(levels.at(-1)).toBe(1)
    expect(levels).toEqual([...levels].sort((a, b) => a - b))
    expect(levels[3]).toBeGreaterThan(0.5)
  })

  it('is zero if there is no sound at all', () => {
    expect(levelOf(new Float32Array())).toBe(0)
  })
})
