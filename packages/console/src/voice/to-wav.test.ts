import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mixed, wavOf } from './to-wav.ts'

const samplesOf = (wav: Uint8Array) => [...new Int16Array(wav.buffer, 44)]

describe('a recording as a WAV file', () => {
  it('has the header that every program reads', () => {
    const wav = Buffer.from(wavOf(new Float32Array(8), 16_000))
    expect(wav.length).toBe(44 + 16)
    expect([wav.toString('latin1', 0, 4), wav.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WAVEfmt '])
    expect(wav.toString('latin1', 36, 40)).toBe('data')
    expect([4, 16, 24, 28, 40].map(at => wav.readUInt32LE(at))).toEqual([36 + 16, 16, 16_000, 32_000, 16])
    expect([20, 22, 32, 34].map(at => wav.readUInt16LE(at))).toEqual([1, 1, 2, 16])
  })

  it('goes from -1 to 1, and what is louder is cut and does not turn over', () => {
    const wav = wavOf(new Float32Array([0, 0.5, 1, -1, 1.5, -7, Number.NaN]), 16_000)
    expect(samplesOf(wav)).toEqual([0, 16_384, 32_767, -32_767, 32_767, -32_767, 0])
  })

  it('keeps every sample to the precision of 16 bits, whatever they are', () => {
    const sound = fc.float32Array({ min: -1, max: 1, noNaN: true, maxLength: 200 })
    fc.assert(
      fc.property(sound, samples => {
        const back = samplesOf(wavOf(samples, 16_000)).map(sample => sample / 32_767)
        expect(back).toHaveLength(samples.length)
        for (const [at, sample] of samples.entries())
          expect(Math.abs(sample - (back[at] ?? 9))).toBeLessThan(1e-4)
      }),
    )
  })

  it('has one channel, the mean of all that there are', () => {
    const left = new Float32Array([1, 0, -0.5])
    const right = new Float32Array([0, 0.5, -0.5])
    expect([...mixed([left, right])]).toEqual([0.5, 0.25, -0.5])
    expect(mixed([left])).toBe(left)
    expect(mixed([])).toHaveLength(0)
  })
})
