import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { findChunks, isWav, wavFile } from '../audio/wav.ts'
import { findProgram, platform } from '../programs/platform.ts'
import { runProgram, withTemporaryWav } from '../programs/run-program.ts'
import { spokenEnglish } from './spoken-english.ts'

/** Speaks sentences: a voice that synthesizes speech, and a player. */
export interface Speaker {
  /** `espeak-ng through aplay`, for the log. */
  readonly name: string
  /** One sentence as a WAV file. Rejects with a SpeakerError, or when the signal is aborted. */
  synthesize(sentence: string, options: { signal: AbortSignal }): Promise<Uint8Array>
  /** Resolves when the sound has been played, or immediately when the signal is aborted. Rejects with a SpeakerError. */
  play(wav: Uint8Array, options: { signal: AbortSignal }): Promise<void>
}

/** Something could not be spoken. The message says why. */
export class SpeakerError extends Error {
  override name = 'SpeakerError'
}

export interface SpeakerOptions {
  /** `auto`: piper if a model is configured, else macOS's `say`, else espeak-ng. */
  readonly voice?: 'auto' | VoiceName | 'none' | undefined
  /** The .onnx file of a piper voice, with its .onnx.json next to it. */
  readonly piperModel?: string | undefined
  /** `en`, `de`, `en-us`; passed to espeak-ng. For English, the default, numbers and units are spelled out. */
  readonly language?: string | undefined
  /** The program that plays, or `none`; default: whichever is installed. */
  readonly player?: string | undefined
  /** Everything is written to this WAV file instead of being played. */
  readonly outFile?: string | undefined
}

type VoiceName = 'piper' | 'espeak-ng' | 'say'
type Player = Pick<Speaker, 'name' | 'play'>

const HOW_TO_GET: Readonly<Record<string, string>> = {
  'espeak-ng': 'Install it, for example with: apt install espeak-ng, or: brew install espeak-ng',
  piper: 'Install it, for example with: pipx install piper-tts',
  say: 'It is part of macOS; elsewhere, use espeak-ng or piper.',
}
/** The players to look for, in this order. */
const PLAYERS = ['pw-play', 'paplay', 'aplay', 'play', 'afplay']
/** Those that would report their progress. */
const TALKATIVE_PLAYERS = ['aplay', 'play']
const SYNTHESIS_DEADLINE_MS = 10_000
/** A player that takes this much longer than the sound is hanging. */
const PLAYER_GRACE_MS = 10_000

/**
 * The voice and player of this machine, or those asked for; undefined if there is none. Rejects with a SpeakerError if
 * one that was asked for is missing.
 */
export async function findSpeaker(options: SpeakerOptions = {}): Promise<Speaker | undefined> {
  const { voice = 'auto', language = 'en' } = options
  const found = voice === 'none' ? undefined : findVoice(voice, options)
  const player = found && findPlayer(options)
  if (!player) return undefined
  const say = /^en\b/i.test(language) ? spokenEnglish : (sentence: string) => sentence
  return {
    get name() {
      return `${found.name} through ${player.name}`
    },
    synthesize: (sentence, how) => found.synthesize(say(sentence), how),
    play: async (wav, how) => {
      if (!how.signal.aborted && wav.length > 0) await player.play(wav, how)
    },
  }
}

function findVoice(voice: 'auto' | VoiceName, options: SpeakerOptions) {
  const { piperModel } = options
  const fallback = platform === 'darwin' && findProgram('say') ? 'say' : 'espeak-ng'
  const name = voice === 'auto' ? (piperModel ? 'piper' : fallback) : voice
  // Debian has another program called piper, for mice, so it is never used without a model.
  if (name === 'piper' && !piperModel)
    throw new SpeakerError('The voice piper needs a model: set piperModel to the .onnx file of a voice.')
  const isOptional = voice === 'auto' && name !== 'piper'
  const program = isOptional ? findProgram(name) : requireProgram(name)
  if (name === 'piper' && piperModel && !existsSync(piperModel))
    throw new SpeakerError(`The piper model ${piperModel} does not exist.`)
  return program === undefined ? undefined : { name, synthesize: synthesizer(name, program, options) }
}

/** espeak-ng writes to stdout, the others to a file. */
function synthesizer(name: VoiceName, program: string, options: SpeakerOptions): Speaker['synthesize'] {
  const { piperModel = '', language } = options
  const args = {
    'espeak-ng': ['-b', '1', '--stdin', '--stdout', ...(language === undefined ? [] : ['-v', language])],
    piper: ['--model', piperModel, '--output_file'],
    say: ['--file-format=WAVE', '--data-format=LEI16@22050', '-f', '-', '-o'],
  }[name]
  return async (text, { signal }) => {
    // On one line, and without `[[`, which begins a command for espeak-ng and say.
    const line = text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').replace(/\[(?=\[)/g, '[ ')
    const common = { program, input: `${line}\n`, signal, Failure: SpeakerError }
    const run = (...more: string[]) =>
      runProgram({ ...common, args: [...args, ...more], deadlineMs: SYNTHESIS_DEADLINE_MS })
    const read = async (path: string) => {
      await run(path)
      return readFile(path).catch(() => Buffer.alloc(0))
    }
    const wav = name === 'espeak-ng' ? await run() : await withTemporaryWav(read)
    if (wav.length === 0) return wav
    // A program that writes to a pipe does not know the sizes in the header.
    const { format, data } = partsOf(wav)
    return wavFile(format, data)
  }
}

function partsOf(wav: Uint8Array): { format: Buffer; data: Buffer } {
  const bytes = Buffer.from(wav)
  const { format, data } = isWav(bytes) ? findChunks(bytes) : {}
  if (!format || !data) throw new SpeakerError('The voice did not produce a WAV file.')
  return { format, data }
}

function findPlayer({ player, outFile }: SpeakerOptions): Player | undefined {
  if (outFile) return fileSink(outFile)
  if (player === 'none') return undefined
  if (player && player !== 'auto') return programPlayer([requireProgram(player)])
  const programs = PLAYERS.flatMap(name => findProgram(name) ?? [])
  return programs.length > 0 ? programPlayer(programs) : undefined
}

function requireProgram(name: string): string {
  const program = findProgram(name)
  if (program) return program
  const advice = HOW_TO_GET[name] ?? `Install it, or use another player: ${PLAYERS.join(', ')}.`
  throw new SpeakerError(`${name} is not installed, or not on the PATH. ${advice}`)
}

/** Plays with the first of these programs that works, from then on: an installed player may have no device to play on. */
function programPlayer(programs: string[]): Player {
  const nameOf = (program = '') => basename(program).replace(/\.exe$/i, '')
  const run = async (program: string, wav: Uint8Array, signal: AbortSignal) => {
    const { format, data } = partsOf(wav)
    const deadlineMs = (data.length / Math.max(1, format.readUInt32LE(8))) * 1_000 + PLAYER_GRACE_MS
    const options = TALKATIVE_PLAYERS.includes(nameOf(program)) ? ['-q'] : []
    await withTemporaryWav(async path => {
      await writeFile(path, wav, { signal })
      const args = [...options, path]
      await runProgram({ program, args, deadlineMs, signal, Failure: SpeakerError })
    })
  }
  return {
    get name() {
      return nameOf(programs[0])
    },
    async play(wav, { signal }) {
      let failure: unknown
      for (const program of [...programs]) {
        try {
          await run(program, wav, signal)
          programs.sort((one, other) => Number(other === program) - Number(one === program))
          return
        } catch (error) {
          if (signal.aborted) return
          failure = error
        }
      }
      throw failure
    },
  }
}

/** A silent player: everything played is appended to one WAV file, which is valid after each piece. */
function fileSink(path: string): Player {
  const pieces: Buffer[] = []
  return {
    name: path,
    async play(wav) {
      const { format, data } = partsOf(wav)
      pieces.push(data)
      await writeFile(path, wavFile(format, Buffer.concat(pieces))).catch(error => {
        throw new SpeakerError(`The answer could not be written to ${path}: ${error.message}`, {
          cause: error,
        })
      })
    },
  }
}
