import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sound, tone } from '../../test/support/spoken.ts'
import { readAudio } from './read-audio.ts'
import { AudioError, SAMPLE_RATE } from './samples.ts'
import { writePcm } from './write-pcm.ts'
import { writeWav } from './write-wav.ts'

describe('readAudio', () => {
  it('reads raw PCM, and drops half a sample at its end', async () => {
    const pcm = Uint8Array.of(0x00, 0x40, 0x00, 0x80, 0xff, 0x7f, 0x01)
    expect([...(await readAudio({ pcm }))]).toEqual([0.5, -1, 32_767 / 32_768])
  })

  it('gives back what writePcm wrote', async () => {
    const integers = fc.array(fc.integer({ min: -32_768, max: 32_767 }))
    await fc.assert(
      fc.asyncProperty(integers, async values => {
        const samples = Float32Array.from(values, value => value / 32_768)
        expect(await readAudio({ pcm: writePcm(samples) })).toEqual(samples)
      }),
    )
  })

  it('clips what is too loud to be written', async () => {
    expect([...(await readAudio({ pcm: writePcm(Float32Array.of(2, -2)) }))]).toEqual([32_767 / 32_768, -1])
  })

  it('reads a WAV file, even if it was sent as PCM', async () => {
    const wav = writeWav(sound(0.1, tone(440, 0.5)))
    expect(await readAudio({ pcm: wav })).toEqual(await readAudio({ wav }))
  })

  it.each([
    ['an Ogg file', Buffer.from('OggS\0\x02\0\0\0\0')],
    ['text', Buffer.from('{"text": "turn on the light"}')],
  ])('refuses %s that was sent as PCM', async (kind, pcm) => {
    await expect(readAudio({ pcm })).rejects.toBeInstanceOf(AudioError)
    await expect(readAudio({ pcm })).rejects.toThrow(`not a WAV file but ${kind}`)
  })

  it('takes sound that begins like an MP3 frame for sound', async () => {
    expect(await readAudio({ pcm: Uint8Array.of(0xff, 0xfb, 0x90, 0x64) })).toHaveLength(2)
  })

  it('refuses raw PCM that is too long by its size', async () => {
    const pcm = new Uint8Array(15 * 60 * SAMPLE_RATE * 2 + 2)
    const length = readAudio({ pcm }).then(samples => samples.length)
    await expect(length).rejects.toThrow(new AudioError('the recording is longer than 15 minutes'))
  })

  it('returns nothing for nothing', async () => {
    expect(await readAudio({ pcm: new Uint8Array(0) })).toHaveLength(0)
  })
})
