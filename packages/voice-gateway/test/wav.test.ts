import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AudioError, readAudio, SAMPLE_RATE, wavFile, writeWav } from '../src/audio/wav.ts'
import { converted, sound, tone } from './support/spoken.ts'
import { hasPart } from './support/system-parts.ts'

const readWav = (bytes: Uint8Array) => readAudio({ wav: bytes })

const second = sound(1, tone(440, 0.5))
const wav = writeWav(second)
const hasSox = hasPart('sox')

/** A copy of the one-second file with some of its bytes overwritten. */
function altered(change: (view: DataView) => void): Uint8Array {
  const bytes = Uint8Array.from(wav)
  change(new DataView(bytes.buffer))
  return bytes
}

/** The largest difference to the original, except at both ends, where a filter begins and ends. */
function difference(samples: Float32Array): number {
  return Math.max(
    ...second.subarray(800, -800).map((sample, at) => Math.abs(sample - (samples[at + 800] ?? 0))),
  )
}

describe('readWav', () => {
  it('gives back what writeWav wrote, to the precision of 16 bits', async () => {
    const samples = await readWav(wav)
    expect(samples).toHaveLength(SAMPLE_RATE)
    expect(difference(samples)).toBeLessThan(1 / 32_000)
  })

  it.skipIf(!hasSox).each([
    ['8 bits', ['-b', '8', '-e', 'unsigned-integer']],
    ['32 bits', ['-b', '32']],
    ['float of 32 bits', ['-e', 'floating-point', '-b', '32']],
    ['48 kHz stereo', ['-r', '48000', '-c', '2']],
    ['8 kHz', ['-r', '8000']],
    ['a rate without a common measure', ['-r', '22051']],
  ])('reads what sox writes to a pipe: %s', async (_name, format) => {
    const samples = await readWav(converted(wav, format))
    expect(Math.abs(samples.length - SAMPLE_RATE)).toBeLessThanOrEqual(2)
    expect(difference(samples)).toBeLessThan(0.02)
  })

  it.each([0, 36, 0xffffffff, 0x7ffff000])(
    'reads to the end where the sizes are unknown (%i)',
    async size => {
      const streamed = altered(view => {
        view.setUint32(4, size, true)
        view.setUint32(40, size === 36 ? 0 : size, true)
      })
      expect(await readWav(streamed)).toHaveLength(SAMPLE_RATE)
    },
  )

  it('refuses what is too long by its size', async () => {
    const format = new Uint8Array(Uint16Array.of(1, 1, 4_000, 0, 4_000, 0, 1, 8).buffer)
    const long = wavFile(format, Buffer.alloc(4_000 * 901))
    await expect(readWav(long)).rejects.toThrow(new AudioError('the recording is longer than 15 minutes'))
  })

  it('supports the extensible format', async () => {
    const format = Buffer.alloc(40)
    format.set(wav.subarray(20, 36))
    format.writeUInt16LE(0xfffe, 0)
    format.writeUInt16LE(22, 16)
    format.writeUInt16LE(1, 24)
    expect(await readWav(wavFile(format, wav.subarray(44)))).toEqual(await readWav(wav))
  })

  it.each([
    ['an MP3 file', 'ID3\x04\0\0\0\0'],
    ['text', '{"text": "turn on the light"}'],
    ['unknown data', '\x01\x02\xff'],
  ])('says what is wanted instead of %s', async (_, text) => {
    await expect(readWav(Buffer.from(text, 'latin1'))).rejects.toThrow('This is not a WAV file: convert it')
  })

  it.each<[string, RegExp, (view: DataView) => void]>([
    ['another codec', /compressed \(codec 0x55\)/, view => view.setUint16(20, 0x55, true)],
    ['no channels', /0 channels/, view => view.setUint16(22, 0, true)],
    ['an absurd rate', /has 4000000000 samples/, view => view.setUint32(24, 4e9, true)],
    ['absurd samples', /77 bits/, view => view.setUint16(34, 77, true)],
    ['a truncated format', /truncated/, view => view.setUint32(16, 4, true)],
    ['no format', /fmt chunk is missing/, view => view.setUint32(12, 0x20202020, true)],
    ['no data', /no sound/, view => view.setUint32(36, 0x20202020, true)],
  ])('refuses %s with an explanation', async (_name, words, change) => {
    await expect(readWav(altered(change))).rejects.toBeInstanceOf(AudioError)
    await expect(readWav(altered(change))).rejects.toThrow(words)
  })

  /** Either sound of sane length and values, or an AudioError. */
  async function staysSane(bytes: Uint8Array): Promise<void> {
    try {
      const samples = await readWav(bytes)
      expect(samples.length).toBeGreaterThan(0)
      expect(samples.length).toBeLessThanOrEqual(bytes.length * 4 + 1)
      expect(samples.every(sample => sample >= -1 && sample <= 1)).toBe(true)
    } catch (error) {
      expect(error).toBeInstanceOf(AudioError)
    }
  }

  it('never does anything else on a header with lies in it', async () => {
    const small = wav.subarray(0, 44 + 400)
    const lie = fc.tuple(fc.nat(43), fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 2, 3, 6, 7, 255)))
    await fc.assert(
      fc.asyncProperty(fc.array(lie, { minLength: 1, maxLength: 6 }), fc.nat(444), async (lies, length) => {
        const lying = Uint8Array.from(small)
        for (const [at, byte] of lies) lying[at] = byte
        await staysSane(lying)
        await staysSane(lying.subarray(0, length))
      }),
      { numRuns: 1_000 },
    )
  })
})
