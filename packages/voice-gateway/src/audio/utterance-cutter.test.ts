import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FRAME_SAMPLES, UtteranceCutter } from './utterance-cutter.ts'

/** Frames that carry their number, so that an utterance tells where it comes from. */
function cut(probabilities: readonly number[]): { first: number; frames: number; cutAt: number }[] {
  const cutter = new UtteranceCutter()
  const places = probabilities.map((probability, number) =>
    cutter.push(new Float32Array(FRAME_SAMPLES).fill(number), probability),
  )
  return [...places, cutter.flush()].flatMap((utterance, cutAt) =>
    utterance ? [{ first: utterance[0] ?? -1, frames: utterance.length / FRAME_SAMPLES, cutAt }] : [],
  )
}

const times = (count: number, probability: number): number[] => Array(count).fill(probability)

describe('UtteranceCutter', () => {
  it('begins 300 ms before speech and ends when it was quiet for 600 ms', () => {
    const [utterance, ...more] = cut([...times(50, 0.1), ...times(30, 0.9), ...times(50, 0.1)])
    expect(more).toEqual([])
    expect(utterance).toEqual({ first: 40, frames: 10 + 30 + 19, cutAt: 50 + 30 + 19 - 1 })
  })

  it('goes on through the pauses between words, and while it is not sure', () => {
    expect(cut([...times(20, 0.9), ...times(21, 0.1), ...times(100, 0.4), ...times(30, 0)])).toHaveLength(1)
  })

  it('does not begin while it is not sure', () => {
    expect(cut(times(300, 0.49))).toEqual([])
  })

  it('leaves out what is shorter than 250 ms', () => {
    expect(cut([...times(7, 0.9), ...times(40, 0)])).toEqual([])
    expect(cut([...times(8, 0.9), ...times(40, 0)])).toHaveLength(1)
  })

  it('gives what was being said when the stream ends', () => {
    expect(cut(times(20, 0.9))).toEqual([{ first: 0, frames: 20, cutAt: 20 }])
  })

  it('cuts after 20 s and goes on without a gap', () => {
    const found = cut(times(1_000, 0.9))
    expect(found.map(({ first, frames }) => [first, frames])).toEqual([
      [0, 625],
      [625, 375],
    ])
  })

  it('continues after such a cut even while it is not sure', () => {
    expect(cut([...times(625, 0.9), ...times(100, 0.4)]).map(({ first }) => first)).toEqual([0, 625])
  })

  it('forgets what it has when it is reset', () => {
    const cutter = new UtteranceCutter()
    for (let frame = 0; frame < 20; frame++) cutter.push(new Float32Array(FRAME_SAMPLES), 0.9)
    cutter.reset()
    expect(cutter.flush()).toBeUndefined()
  })

  it('keeps every promise on any stream', () => {
    const run = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom(0, 0.2, 0.36, 0.5, 0.9))
    fc.assert(
      fc.property(fc.array(run, { maxLength: 30 }), runs => {
        const probabilities = runs.flatMap(([count, probability]) => times(count, probability))
        let end = 0
        for (const { first, frames } of cut(probabilities)) {
          const inside = probabilities.slice(first, first + frames)
          expect(first).toBeGreaterThanOrEqual(end)
          expect(frames).toBeLessThanOrEqual(625)
          expect(inside.filter(probability => probability >= 0.35).length).toBeGreaterThanOrEqual(8)
          end = first + frames
        }
      }),
    )
  })
})
