import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sound, tone } from '../../test/support/spoken.ts'
import { readAudio } from './read-audio.ts'
import { AudioError } from './samples.ts'
import { writePcm } from './write-pcm.ts'
import { writeWav } from './write-wav.ts'

describe('readAudio', () => {
  it('reads raw PCM, and drops half a sample at its end', () => {
    const pcm = Uint8Array.of(0x00, 0x40, 0x00, 0x80, 0xff, 0x7f, 0x01)
    expect([...readAudio({ pcm })]).toEqual([0.5, -1, 32_767 / 32_768])
  })

  it('gives back what writePcm wrote', () => {
    const integers = fc.array(fc.integer({ min: -32_768, max: 32_767 }))
    fc.assert(
      fc.property(integers, values => {
        const samples = Float32Array.from(values, value => value / 32_768)
        expect(readAudio({ pcm: writePcm(samples) })).toEqual(samples)
      }),
    )
  })

  it('clips what is too loud to be written', () => {
    expect([...readAudio({ pcm: writePcm(Float32Array.of(2, -2)) })]).toEqual([32_767 / 32_768, -1])
  })

  it('reads a WAV file, also where it was sent as PCM', () => {
    const wav = writeWav(sound(0.1, tone(440, 0.5)))
    expect(readAudio({ pcm: wav })).toEqual(readAudio({ wav }))
  })

  it.each([
    ['an Ogg file', Buffer.from('OggS\0\x02\0\0\0\0')],
    ['text', Buffer.from('{"text": "turn on the light"}')],
  ])('refuses %s that was sent as PCM', (kind, pcm) => {
    expect(() => readAudio({ pcm })).toThrow(AudioError)
    expect(() => readAudio({ pcm })).toThrow(`not a WAV file but ${kind}`)
  })

  it('takes sound that begins like an MP3 frame for sound', () => {
    expect(readAudio({ pcm: Uint8Array.of(0xff, 0xfb, 0x90, 0x64) })).toHaveLength(2)
  })

  it('gives nothing for nothing', () => {
    expect(readAudio({ pcm: new Uint8Array(0) })).toHaveLength(0)
  })
})
