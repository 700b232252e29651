import { existsSync } from 'node:fs'
import { platform as currentPlatform, findProgram } from '../programs/platform.ts'
import { fileSink, firstThatWorks, PLAYER_PROGRAMS, type Player, programPlayer } from './players.ts'
import { type Speaker, SpeakerError } from './speaker.ts'
import { spokenEnglish } from './spoken-english.ts'
import { makeVoice, type Voice } from './voices.ts'

export interface SpeakerOptions {
  /** `auto`: piper if a model is configured, else macOS's `say`, else espeak-ng. */
  readonly voice?: 'auto' | 'piper' | 'espeak-ng' | 'say' | 'none' | undefined
  /** The .onnx file of a piper voice. */
  readonly piperModel?: string | undefined
  /** `en`, `de`, `en-us`; passed to espeak-ng. For English, the default, numbers and units are spelled out. */
  readonly language?: string | undefined
  /** The program that plays, or `none`; default: whichever is installed. */
  readonly player?: string | undefined
  /** Everything is written to this WAV file instead of being played. */
  readonly outFile?: string | undefined
  readonly environment?: NodeJS.ProcessEnv | undefined
  readonly platform?: NodeJS.Platform | undefined
}

const HOW_TO_GET: Readonly<Record<string, string>> = {
  'espeak-ng': 'Install it, for example with: apt install espeak-ng, or: brew install espeak-ng',
  piper: 'Install it, for example with: pipx install piper-tts',
  say: 'It is part of macOS; elsewhere, use espeak-ng or piper.',
}

/**
 * The speaker of this machine; undefined if there is none, or none is wanted.
 * Rejects with a SpeakerError if something requested is missing.
 */
export async function findSpeaker(options: SpeakerOptions = {}): Promise<Speaker | undefined> {
  const voice = findVoice(options)
  const player = voice && findPlayer(options)
  return player && joined(voice, player, isEnglish(options.language) ? spokenEnglish : same => same)
}

function isEnglish(language = 'en'): boolean {
  return /^en(?:$|[-_+])/i.test(language)
}

function joined(voice: Voice, player: Player, inWords: (sentence: string) => string): Speaker {
  return {
    get name() {
      return `${voice.name} through ${player.name}`
    },
    synthesize: (sentence, options) => voice.synthesize(inWords(sentence), options),
    play: (wav, options) => player.play(wav, options),
  }
}

function findVoice(options: SpeakerOptions): Voice | undefined {
  const { voice = 'auto', piperModel, platform = currentPlatform, environment } = options
  if (voice === 'none') return undefined
  const fallback = platform === 'darwin' && findProgram('say', environment) ? 'say' : 'espeak-ng'
  const name = voice === 'auto' ? (piperModel ? 'piper' : fallback) : voice
  // Debian has another program called piper, for mice, so it is never used without a model.
  if (name === 'piper' && !piperModel)
    throw new SpeakerError('The voice piper needs a model: set piperModel to the .onnx file of a voice.')
  const isOptional = voice === 'auto' && name !== 'piper'
  const program = isOptional ? findProgram(name, environment) : requireProgram(name, environment)
  if (name === 'piper' && piperModel && !existsSync(piperModel))
    throw new SpeakerError(`The piper model ${piperModel} does not exist.`)
  return program === undefined ? undefined : makeVoice(name, { ...options, program })
}

function findPlayer(options: SpeakerOptions): Player | undefined {
  const { player, outFile, environment } = options
  if (outFile) return fileSink(outFile)
  if (player === 'none') return undefined
  if (player && player !== 'auto') return programPlayer(requireProgram(player, environment), environment)
  const programs = PLAYER_PROGRAMS.map(name => findProgram(name, environment)).filter(
    path => path !== undefined,
  )
  const [first, ...others] = programs.map(path => programPlayer(path, environment))
  return first && firstThatWorks([first, ...others])
}

function requireProgram(name: string, environment: NodeJS.ProcessEnv | undefined): string {
  const program = findProgram(name, environment)
  if (program) return program
  const known = PLAYER_PROGRAMS.join(', ')
  const advice = HOW_TO_GET[name] ?? `Install it, or use another player: ${known}.`
  throw new SpeakerError(`${name} is not installed, or not on the PATH. ${advice}`)
}
