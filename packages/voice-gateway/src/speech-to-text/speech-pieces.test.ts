import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FRAME_SAMPLES } from '../audio/utterance-cutter.ts'
import { speechPieces } from './speech-pieces.ts'

const times = (count: number, probability: number): number[] => Array(count).fill(probability)

/** The pieces in frames, of a recording that is loud everywhere but in the frames named. */
function pieces(probabilities: readonly number[], quiet: readonly number[] = []): [number, number][] {
  const samples = new Float32Array(probabilities.length * FRAME_SAMPLES).fill(0.5)
  for (const frame of quiet) samples.fill(0, frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES)
  return speechPieces(samples, probabilities).map(({ start, end }) => [
    start / FRAME_SAMPLES,
    end / FRAME_SAMPLES,
  ])
}

describe('speechPieces', () => {
  it('finds nothing where nobody speaks, and in a click', () => {
    expect(pieces([])).toEqual([])
    expect(pieces(times(500, 0.4))).toEqual([])
    expect(pieces([...times(100, 0), ...times(3, 0.9), ...times(100, 0)])).toEqual([])
  })

  it('trims to the speech, with a margin', () => {
    expect(pieces([...times(100, 0), ...times(50, 0.9), ...times(100, 0)])).toEqual([[91, 159]])
  })

  it('keeps a sentence with short pauses together, and parts what is a second apart', () => {
    expect(pieces([...times(50, 0.9), ...times(25, 0), ...times(50, 0.9)])).toEqual([[0, 125]])
    expect(pieces([...times(50, 0.9), ...times(40, 0), ...times(50, 0.9)])).toEqual([
      [0, 59],
      [81, 140],
    ])
  })

  it('cuts long speech at a pause', () => {
    expect(pieces([...times(400, 0.9), ...times(15, 0), ...times(400, 0.9)])).toEqual([
      [0, 407],
      [408, 815],
    ])
  })

  it('cuts speech without a pause where it is least like speech', () => {
    const probabilities = times(800, 0.9)
    probabilities[500] = 0.1
    expect(pieces(probabilities)).toEqual([
      [0, 500],
      [500, 800],
    ])
  })

  it('cuts speech that is certain everywhere where it is quietest', () => {
    expect(pieces(times(800, 0.9), [449, 450, 451])).toEqual([
      [0, 450],
      [450, 800],
    ])
  })

  it('gives pieces in order, of bounded length, that contain all long speech', () => {
    const run = fc.tuple(fc.integer({ min: 1, max: 900 }), fc.constantFrom(0, 0.4, 0.9))
    fc.assert(
      fc.property(fc.array(run, { maxLength: 8 }), runs => {
        const probabilities = runs.flatMap(([count, probability]) => times(count, probability))
        const found = pieces(probabilities)
        let last = 0
        for (const [start, end] of found) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          expect(end - start).toBeLessThanOrEqual(563 + 18)
          last = end
        }
        expect(last).toBeLessThanOrEqual(probabilities.length)
        const isInside = (frame: number) => found.some(([start, end]) => frame >= start && frame < end)
        let frame = 0
        for (const [count, probability] of runs) {
          if (probability > 0.5 && count > 10) expect([frame, frame + count - 1].every(isInside)).toBe(true)
          frame += count
        }
      }),
      { numRuns: 50 },
    )
  })
})
