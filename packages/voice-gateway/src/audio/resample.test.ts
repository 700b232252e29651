import { describe, expect, it } from 'vitest'
import { resample } from './resample.ts'
import { SAMPLE_RATE } from './samples.ts'

function toneAt(rate: number, hertz: number): Float32Array {
  return Float32Array.from({ length: rate }, (_, index) => Math.sin((2 * Math.PI * hertz * index) / rate) / 2)
}

/** The samples at 16 kHz. */
function resampled(samples: Float32Array, rate: number): Promise<Float32Array> {
  const read = (target: Float32Array, start: number) =>
    target.forEach((_, index) => {
      target[index] = samples[start + index] ?? 0
    })
  return resample({ length: samples.length, read }, { rate })
}

/** Of the middle, where the filter sees sound on both sides. */
function level(samples: Float32Array): number {
  const middle = samples.subarray(1_000, -1_000)
  return Math.sqrt(middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length)
}

const wanted = level(toneAt(SAMPLE_RATE, 440))

describe('resample', () => {
  it('passes 16 kHz as it is', async () => {
    const samples = toneAt(SAMPLE_RATE, 440)
    expect(await resampled(samples, SAMPLE_RATE)).toEqual(samples)
  })

  it.each([4_000, 8_000, 22_050, 44_100, 48_000, 96_000, 384_000])(
    'keeps a tone from %i Hz, in time',
    async rate => {
      const samples = await resampled(toneAt(rate, 440), rate)
      expect(samples).toHaveLength(SAMPLE_RATE)
      const original = toneAt(SAMPLE_RATE, 440)
      const difference = samples.map((sample, index) => sample - (original[index] ?? 0))
      expect(level(difference)).toBeLessThan(wanted / 300)
    },
  )

  it.each([9_500, 11_000, 15_560, 23_000])(
    'takes away %i Hz, which would be heard as another tone',
    async hertz => {
      expect(level(await resampled(toneAt(48_000, hertz), 48_000))).toBeLessThan(wanted / 1_000)
    },
  )

  it('never leaves -1 to 1', async () => {
    const square = Float32Array.from({ length: 48_000 }, (_, index) => (index % 100 < 50 ? 1 : -1))
    expect((await resampled(square, 48_000)).every(sample => Math.abs(sample) <= 1)).toBe(true)
  })
})
