import { existsSync } from 'node:fs'
import { findProgram } from '../programs/find-program.ts'
import { fileSink } from './file-sink.ts'
import { firstThatWorks, PLAYER_PROGRAMS, type Player, programPlayer } from './players.ts'
import { type Speaker, SpeakerError } from './speaker.ts'
import { espeakVoice, piperVoice, sayVoice, type Voice, type VoiceOptions } from './voices.ts'

export interface SpeakerOptions {
  /** `auto`: piper if a model is configured, else macOS's `say`, else espeak-ng. */
  readonly voice?: 'auto' | 'piper' | 'espeak-ng' | 'say' | 'none' | undefined
  /** The .onnx file of a voice for piper. */
  readonly piperModel?: string | undefined
  /** `en`, `de`, `en-us`; for espeak-ng. */
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
  return player && joined(voice, player)
}

function joined(voice: Voice, player: Player): Speaker {
  return {
    get name() {
      return `${voice.name} through ${player.name}`
    },
    synthesize: (sentence, options) => voice.synthesize(sentence, options),
    play: (wav, options) => player.play(wav, options),
  }
}

function findVoice(options: SpeakerOptions): Voice | undefined {
  const { voice = 'auto', piperModel, platform = process.platform } = options
  if (voice === 'none') return undefined
  if (voice === 'piper' || (voice === 'auto' && piperModel)) return findPiper(options)
  if (voice !== 'auto') return voiceOf(voice, options, requireProgram(voice, options))
  const name = platform === 'darwin' && locate('say', options) ? 'say' : 'espeak-ng'
  const program = locate(name, options)
  return program === undefined ? undefined : voiceOf(name, options, program)
}

function voiceOf(name: 'espeak-ng' | 'say', options: SpeakerOptions, program: string): Voice {
  return name === 'say'
    ? sayVoice(voiceOptions(options, program))
    : espeakVoice(voiceOptions(options, program))
}

/** Debian has another program of this name, for mice: without a model it is left alone. */
function findPiper(options: SpeakerOptions): Voice {
  const { piperModel } = options
  if (!piperModel) {
    throw new SpeakerError('The voice piper needs a model: name the .onnx file of a voice as piperModel.')
  }
  const program = requireProgram('piper', options)
  if (!existsSync(piperModel)) throw new SpeakerError(`The model for piper, ${piperModel}, does not exist.`)
  return piperVoice(piperModel, voiceOptions(options, program))
}

function findPlayer(options: SpeakerOptions): Player | undefined {
  const { player, outFile, environment } = options
  if (outFile) return fileSink(outFile)
  if (player === 'none') return undefined
  if (player && player !== 'auto') return programPlayer(requireProgram(player, options), { environment })
  const programs = PLAYER_PROGRAMS.map(name => locate(name, options)).filter(path => path !== undefined)
  const [first, ...others] = programs.map(path => programPlayer(path, { environment }))
  return first && firstThatWorks([first, ...others])
}

function voiceOptions({ language, environment }: SpeakerOptions, program: string): VoiceOptions {
  return { program, language, environment }
}

function requireProgram(name: string, options: SpeakerOptions): string {
  const program = locate(name, options)
  if (program) return program
  const known = PLAYER_PROGRAMS.join(', ')
  const advice = HOW_TO_GET[name] ?? `Install it, or use another player: ${known}.`
  throw new SpeakerError(`${name} is not installed, or not on the PATH. ${advice}`)
}

function locate(name: string, { environment = process.env }: SpeakerOptions): string | undefined {
  return findProgram(name, environment)
}
