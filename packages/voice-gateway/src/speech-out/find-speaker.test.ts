import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { programs, temporaryFolder } from '../../test/support/programs.ts'
import { hasPart } from '../../test/support/system-parts.ts'
import { findSpeaker } from './find-speaker.ts'
import { SpeakerError } from './speaker.ts'
import { wavParts } from './wav-file.ts'

const ALL = { 'espeak-ng': '', say: '', piper: '', paplay: '', aplay: '', mpv: '' }
const onLinux = (...names: (keyof typeof ALL)[]) => ({
  platform: 'linux' as const,
  environment: programs(Object.fromEntries(names.map(name => [name, ALL[name]]))).environment,
})

describe('findSpeaker', () => {
  it('uses espeak-ng and the first available player', async () => {
    const found = await findSpeaker(onLinux('espeak-ng', 'aplay', 'paplay'))
    expect(found?.name).toBe('espeak-ng through paplay')
  })

  it('uses say on macOS only', async () => {
    const machine = onLinux('espeak-ng', 'say', 'aplay')
    expect((await findSpeaker(machine))?.name).toBe('espeak-ng through aplay')
    expect((await findSpeaker({ ...machine, platform: 'darwin' }))?.name).toBe('say through aplay')
  })

  it('takes piper if a model is configured, and else leaves a program of that name alone', async () => {
    const machine = onLinux('espeak-ng', 'piper', 'aplay')
    const piperModel = join(temporaryFolder(), 'amy.onnx')
    writeFileSync(piperModel, '')
    expect((await findSpeaker(machine))?.name).toBe('espeak-ng through aplay')
    expect((await findSpeaker({ ...machine, piperModel }))?.name).toBe('piper through aplay')
    expect((await findSpeaker({ ...machine, piperModel, voice: 'espeak-ng' }))?.name).toBe(
      'espeak-ng through aplay',
    )
  })

  it.each([
    ['no voice', onLinuxLater('aplay'), {}],
    ['no player', onLinuxLater('espeak-ng'), {}],
    ['no PATH', () => ({ platform: 'linux' as const, environment: {} }), {}],
    ['the voice none', onLinuxLater('espeak-ng', 'aplay'), { voice: 'none' as const }],
    ['the player none', onLinuxLater('espeak-ng', 'aplay'), { player: 'none' }],
  ])('finds nothing with %s', async (_what, machine, options) => {
    await expect(findSpeaker({ ...machine(), ...options })).resolves.toBeUndefined()
  })

  it.each([
    [{ voice: 'espeak-ng' as const }, /^espeak-ng is not installed, .* apt install espeak-ng/],
    [{ voice: 'say' as const }, /^say is not installed, .* part of macOS/],
    [{ voice: 'piper' as const }, /needs a model/],
    [{ voice: 'piper' as const, piperModel: 'x.onnx' }, /^piper is not installed, .* pipx install piper-tts/],
    [{ piperModel: 'x.onnx' }, /^piper is not installed/],
  ])('says what is missing for %j', async (options, words) => {
    const found = findSpeaker({ ...onLinux('aplay'), ...options })
    await expect(found).rejects.toThrow(words)
    await expect(found).rejects.toBeInstanceOf(SpeakerError)
  })

  it('says that the model is not there', async () => {
    const found = findSpeaker({ ...onLinux('piper', 'aplay'), piperModel: '/no/such/amy.onnx' })
    await expect(found).rejects.toThrow('The piper model /no/such/amy.onnx does not exist.')
  })

  it('uses the player that was asked for, or says that it is missing', async () => {
    const machine = onLinux('espeak-ng', 'paplay', 'mpv')
    expect((await findSpeaker({ ...machine, player: 'mpv' }))?.name).toBe('espeak-ng through mpv')
    expect((await findSpeaker({ ...machine, player: 'auto' }))?.name).toBe('espeak-ng through paplay')
    await expect(findSpeaker({ ...machine, player: 'pw-play' })).rejects.toThrow(
      'pw-play is not installed, or not on the PATH. Install it, or use another player: pw-play, paplay, aplay, play, afplay.',
    )
  })

  it('passes over what has the name and cannot be run', async () => {
    const { folder, environment } = programs({ 'espeak-ng': '', aplay: '' })
    mkdirSync(join(folder, 'pw-play'))
    writeFileSync(join(folder, 'paplay'), '')
    chmodSync(join(folder, 'paplay'), 0o644)
    expect((await findSpeaker({ platform: 'linux', environment }))?.name).toBe('espeak-ng through aplay')
  })

  it.each([
    [undefined, '21.5 degrees Celsius\n'],
    ['en-us', '21.5 degrees Celsius\n'],
    ['de', '21.5 °C\n'],
  ])('says units in words in English: %s', async (language, said) => {
    const { folder, environment } = programs({ 'espeak-ng': 'cat > "$(dirname "$0")/text"', aplay: '' })
    const speaker = await findSpeaker({ platform: 'linux', environment, language })
    await speaker?.synthesize('21.5 °C', { signal: new AbortController().signal })
    expect(readFileSync(join(folder, 'text'), 'utf8')).toBe(said)
  })

  it.runIf(hasPart('espeak-ng'))('writes to a file if one is given', async () => {
    const outFile = join(temporaryFolder(), 'answer.wav')
    const speaker = await findSpeaker({ voice: 'espeak-ng', outFile })
    const signal = new AbortController().signal
    expect(speaker?.name).toBe(`espeak-ng through ${outFile}`)
    await speaker?.play(await speaker.synthesize('Hello there.', { signal }), { signal })
    expect(wavParts(readFileSync(outFile)).samples.length).toBeGreaterThan(10_000)
  })
})

function onLinuxLater(...names: (keyof typeof ALL)[]) {
  return () => onLinux(...names)
}
