import { describe, expect, it } from 'vitest'
import { sampleSource } from './decode-samples.ts'
import { SAMPLE_RATE } from './samples.ts'

const bytes = Uint8Array.of(192, 64, 0)
const source = sampleSource(bytes, { encoding: 'pcm', channels: 1, rate: SAMPLE_RATE, sampleBytes: 1 })

describe('sampleSource', () => {
  it.each<[number, number[]]>([
    [-9, [0, 0, 0, 0]],
    [-2, [0, 0, 0.5, -0.5]],
    [0, [0.5, -0.5, -1, 0]],
    [2, [-1, 0, 0, 0]],
    [3, [0, 0, 0, 0]],
    [9, [0, 0, 0, 0]],
  ])('returns silence outside the sound (from %i on)', (start, samples) => {
    const target = Float32Array.of(7, 7, 7, 7)
    source.read(target, start)
    expect([...target]).toEqual(samples)
  })
})
