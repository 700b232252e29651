import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SpeakerError } from './speaker.ts'
import { describeFormat, wavHeader, wavParts, withTrueSizes } from './wav-file.ts'

/** 16 bits, one channel, 22,050 Hz. */
const FORMAT = Buffer.from('0100010022560000 44ac0000 02001000'.replaceAll(' ', ''), 'hex')
const wavOf = (samples: Uint8Array) => Buffer.concat([wavHeader(FORMAT, samples.length), samples])

describe('a WAV file', () => {
  it('comes apart into what it was made of', () => {
    fc.assert(
      fc.property(fc.uint8Array(), samples => {
        const parts = wavParts(wavOf(samples))
        expect(parts.samples).toEqual(Buffer.from(samples))
        expect(parts.format).toEqual(FORMAT)
        expect(parts.bytesPerSecond).toBe(44_100)
      }),
    )
  })

  it('gets its true sizes if a program could not know them', () => {
    const wav = wavOf(Buffer.alloc(10))
    const streamed = Buffer.from(wav)
    streamed.writeUInt32LE(0x7ffff024, 4)
    streamed.writeUInt32LE(0x7ffff000, 40)
    expect(withTrueSizes(streamed)).toEqual(wav)
  })

  it('may have other chunks before its samples', () => {
    const wav = wavOf(Buffer.from('abcd'))
    const note = Buffer.from('LIST\x03\0\0\0xyz\0', 'latin1')
    const noted = Buffer.concat([wav.subarray(0, 36), note, wav.subarray(36)])
    expect(wavParts(noted).samples.toString()).toBe('abcd')
  })

  it('is described in words', () => {
    expect(describeFormat(FORMAT)).toBe('22050 Hz, 1 channel, 16 bits')
  })

  it('gives sound or a SpeakerError, whatever the bytes are', () => {
    const mutated = fc
      .tuple(fc.nat(47), fc.nat(255))
      .map(([at, byte]) =>
        Uint8Array.from(wavOf(Buffer.alloc(4)).map((old, index) => (index === at ? byte : old))),
      )
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), mutated), bytes => {
        try {
          expect(wavParts(bytes).samples.length).toBeLessThanOrEqual(bytes.length)
        } catch (error) {
          expect(error).toBeInstanceOf(SpeakerError)
        }
      }),
    )
  })
})
