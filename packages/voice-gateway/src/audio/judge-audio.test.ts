import { describe, expect, it } from 'vitest'
import { noise, silence, sound, spoken, tone } from '../../test/support/spoken.ts'
import { hasPart } from '../../test/support/system-parts.ts'
import { countTurns } from '../../test/support/turns.ts'
import { reasonToDrop } from './judge-audio.ts'

describe('reasonToDrop', () => {
  it.each<[string, Float32Array]>([
    ['the recording is empty', silence(0)],
    ['the recording is only 0.1 s long', sound(0.1, tone(440, 0.5))],
    ['the recording is only 0.2 s long', sound(0.299, tone(440, 0.5))],
    ['the recording is silent', silence(1)],
    ['the recording is too quiet (-60 dB at its loudest)', sound(1, tone(50, 0.001))],
    ['the recording is too quiet (-66 dB at its loudest)', sound(1, noise(0.0005))],
  ])('says: %s', async (reason, samples) => {
    expect(await reasonToDrop(samples)).toBe(reason)
  })

  it('drops what is longer than 15 minutes', async () => {
    expect(await reasonToDrop(silence(15 * 60 + 1))).toBe('the recording is longer than 15 minutes')
  })

  it('lets everything else have its turns', async () => {
    const { result, turns } = await countTurns(reasonToDrop(silence(14 * 60)))
    expect(result).toBe('the recording is silent')
    expect(turns).toBeGreaterThan(0)
  })

  it('drops silence with one click in it', async () => {
    const samples = silence(10)
    samples[5_000] = 0.02
    expect(await reasonToDrop(samples)).toMatch(/too quiet/)
  })

  it('is not deceived by a constant that the input adds', async () => {
    expect(await reasonToDrop(sound(1, time => 0.2 + tone(50, 0.001)(time)))).toMatch(/too quiet/)
  })

  it.skipIf(!hasPart('espeak-ng'))('keeps a voice, and a quiet one at -40 dB', async () => {
    const voice = await spoken('turn on the light')
    const peak = Math.max(...voice)
    expect(await reasonToDrop(voice)).toBeUndefined()
    expect(await reasonToDrop(voice.map(sample => (sample / peak) * 0.01))).toBeUndefined()
  })
})
