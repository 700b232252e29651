import { existsSync } from 'node:fs'
import { findProgram } from '../programs/find-program.ts'
import { platform as currentPlatform } from '../programs/platform.ts'
import { fileSink } from './file-sink.ts'
import { firstThatWorks, PLAYER_PROGRAMS, type Player, programPlayer } from './players.ts'
import { type Speaker, SpeakerError } from './speaker.ts'
import { spokenEnglish } from './spoken-english.ts'
import { espeakVoice, piperVoice, sayVoice, type Voice } from './voices.ts'

export interface SpeakerOptions {
  /** `auto`: piper if a model is configured, else macOS's `say`, else espeak-ng. */
  readonly voice?: 'auto' | 'piper' | 'espeak-ng' | 'say' | 'none' | undefined
  /** The .onnx file of a voice for piper. */
  readonly piperModel?: string | undefined
  /** Of what is said: `en`, `de`, `en-us`; espeak-ng is told. If it is English or left out, numbers and units are said in words. */
  readonly language?: string | undefined
  /** The program that plays, or `none`; left out, whichever the machine has. */
  readonly player?: string | undefined
  /** Everything goes into this WAV file and is not played. */
  readonly outFile?: string | undefined
  readonly environment?: NodeJS.ProcessEnv | undefined
  readonly platform?: NodeJS.Platform | undefined
}

const HOW_TO_GET: Readonly<Record<string, string>> = {
  'espeak-ng': 'Install it, for example with: apt install espeak-ng, or: brew install espeak-ng',
  piper: 'Install it, for example with: pipx install piper-tts',
  say: 'It is a part of macOS. Elsewhere use espeak-ng or piper.',
}

/**
 * What this machine can speak with. Undefined: it cannot, or is not to.
 * Rejects with a SpeakerError if something that was asked for is missing.
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
  if (voice === 'piper' || (voice === 'auto' && piperModel)) return findPiper(options)
  const fallback = platform === 'darwin' && findProgram('say', environment) ? 'say' : 'espeak-ng'
  const name = voice === 'auto' ? fallback : voice
  const program = voice === 'auto' ? findProgram(name, environment) : requireProgram(name, environment)
  const makeVoice = name === 'say' ? sayVoice : espeakVoice
  return program === undefined ? undefined : makeVoice({ ...options, program })
}

/** Debian has another program of this name, for mice: without a model it is left alone. */
function findPiper(options: SpeakerOptions): Voice {
  const { piperModel } = options
  if (!piperModel) {
    throw new SpeakerError('The voice piper needs a model: name the .onnx file of a voice as piperModel.')
  }
  const program = requireProgram('piper', options.environment)
  if (!existsSync(piperModel)) throw new SpeakerError(`The model for piper, ${piperModel}, does not exist.`)
  return piperVoice(piperModel, { ...options, program })
}

function findPlayer(options: SpeakerOptions): Player | undefined {
  const { player, outFile, environment } = options
  if (outFile) return fileSink(outFile)
  if (player === 'none') return undefined
  if (player && player !== 'auto') return programPlayer(requireProgram(player, environment), { environment })
  const programs = PLAYER_PROGRAMS.map(name => findProgram(name, environment)).filter(
    path => path !== undefined,
  )
  const [first, ...others] = programs.map(path => programPlayer(path, { environment }))
  return first && firstThatWorks([first, ...others])
}

function requireProgram(name: string, environment: NodeJS.ProcessEnv | undefined): string {
  const program = findProgram(name, environment)
  if (program) return program
  const known = PLAYER_PROGRAMS.join(', ')
  const advice = HOW_TO_GET[name] ?? `Install it, or use another player: ${known}.`
  throw new SpeakerError(`${name} is not installed, or not on the PATH. ${advice}`)
}
