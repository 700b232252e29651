import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { findChunks, isWav, wavFile } from '../audio/wav.ts'
import { platform as currentPlatform, findProgram } from '../programs/platform.ts'
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
  readonly environment?: NodeJS.ProcessEnv | undefined
  readonly platform?: NodeJS.Platform | undefined
}

type VoiceName = 'piper' | 'espeak-ng' | 'say'
type Synthesize = Speaker['synthesize']
type Player = Pick<Speaker, 'name' | 'play'>

const HOW_TO_GET: Readonly<Record<string, string>> = {
  'espeak-ng': 'Install it, for example with: apt install espeak-ng, or: brew install espeak-ng',
  piper: 'Install it, for example with: pipx install piper-tts',
  say: 'It is part of macOS; elsewhere, use espeak-ng or piper.',
}
/** The players to look for, in this order. */
const PLAYERS = ['pw-play', 'paplay', 'aplay', 'play', 'afplay']
/** Those that can read a WAV from stdin; the others get a file. */
const STDIN_PLAYERS = ['aplay', 'play']
const STDIN_ARGUMENTS = ['-q', '-t', 'wav', '-']
const SYNTHESIS_DEADLINE_MS = 10_000
/** A player that takes this much longer than the sound is hanging. */
const PLAYER_GRACE_MS = 10_000
const NO_WAV = 'The voice did not produce a WAV file.'

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
    play: (wav, how) => player.play(wav, how),
  }
}

function findVoice(
  voice: 'auto' | VoiceName,
  options: SpeakerOptions,
): { name: VoiceName; synthesize: Synthesize } | undefined {
  const { piperModel, environment, platform = currentPlatform } = options
  const fallback = platform === 'darwin' && findProgram('say', environment) ? 'say' : 'espeak-ng'
  const name = voice === 'auto' ? (piperModel ? 'piper' : fallback) : voice
  // Debian has another program called piper, for mice, so it is never used without a model.
  if (name === 'piper' && !piperModel)
    throw new SpeakerError('The voice piper needs a model: set piperModel to the .onnx file of a voice.')
  const isOptional = voice === 'auto' && name !== 'piper'
  const program = isOptional ? findProgram(name, environment) : requireProgram(name, environment)
  if (name === 'piper' && piperModel && !existsSync(piperModel))
    throw new SpeakerError(`The piper model ${piperModel} does not exist.`)
  return program === undefined ? undefined : { name, synthesize: synthesizer(name, program, options) }
}

/** espeak-ng writes to stdout, the others to a file. */
function synthesizer(name: VoiceName, program: string, options: SpeakerOptions): Synthesize {
  const { piperModel = '', language, environment } = options
  const args = {
    'espeak-ng': ['-b', '1', '--stdin', '--stdout', ...(language === undefined ? [] : ['-v', language])],
    piper: ['--model', piperModel, '--output_file'],
    say: ['--file-format=WAVE', '--data-format=LEI16@22050', '-f', '-', '-o'],
  }[name]
  return async (text, { signal }) => {
    // On one line, and without `[[`, which begins a command for espeak-ng and say.
    const line = text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').replace(/\[(?=\[)/g, '[ ')
    const common = { program, input: `${line}\n`, signal, environment, Failure: SpeakerError }
    const run = (more: string[]) =>
      runProgram({ ...common, args: [...args, ...more], deadlineMs: SYNTHESIS_DEADLINE_MS })
    if (name === 'espeak-ng') return withTrueSizes(await run([]))
    return withTemporaryWav(async path => {
      await run([path])
      return withTrueSizes(await readFile(path).catch(() => Buffer.alloc(0)))
    })
  }
}

/** The same sound with correct sizes in the header: a program that writes to a pipe does not know them. */
function withTrueSizes(wav: Buffer): Uint8Array {
  if (wav.length === 0) return wav
  const { format, data } = isWav(wav) ? findChunks(wav) : {}
  if (!format || !data) throw new SpeakerError(NO_WAV)
  return wavFile(format, data)
}

function findPlayer({ player, outFile, environment }: SpeakerOptions): Player | undefined {
  if (outFile) return fileSink(outFile)
  if (player === 'none') return undefined
  if (player && player !== 'auto') return programPlayer(requireProgram(player, environment), environment)
  const programs = PLAYERS.flatMap(name => findProgram(name, environment) ?? [])
  const [first, ...others] = programs.map(path => programPlayer(path, environment))
  return first && firstThatWorks([first, ...others])
}

function requireProgram(name: string, environment: NodeJS.ProcessEnv | undefined): string {
  const program = findProgram(name, environment)
  if (program) return program
  const advice = HOW_TO_GET[name] ?? `Install it, or use another player: ${PLAYERS.join(', ')}.`
  throw new SpeakerError(`${name} is not installed, or not on the PATH. ${advice}`)
}

/** Plays with a program that takes a WAV file on stdin or as its argument. */
function programPlayer(program: string, environment: NodeJS.ProcessEnv | undefined): Player {
  const name = basename(program).replace(/\.exe$/i, '')
  const run = async (wav: Uint8Array, signal: AbortSignal) => {
    const { format, data } = findChunks(Buffer.from(wav))
    const soundMs = ((data?.length ?? 0) / Math.max(1, format?.readUInt32LE(8) ?? 1)) * 1_000
    const deadlineMs = soundMs + PLAYER_GRACE_MS
    const common = { program, environment, deadlineMs, signal, Failure: SpeakerError }
    if (STDIN_PLAYERS.includes(name)) return runProgram({ ...common, args: STDIN_ARGUMENTS, input: wav })
    return withTemporaryWav(async path => {
      await writeFile(path, wav, { signal })
      return runProgram({ ...common, args: [path] })
    })
  }
  return {
    name,
    async play(wav, { signal }) {
      if (signal.aborted || wav.length === 0) return
      try {
        await run(wav, signal)
      } catch (error) {
        if (signal.aborted) return
        throw error instanceof SpeakerError ? error : new SpeakerError(String(error), { cause: error })
      }
    },
  }
}

/** Plays with the first of these that works, from then on: an installed player may have no device to play on. */
function firstThatWorks(players: readonly [Player, ...Player[]]): Player {
  let [current] = players
  return {
    get name() {
      return current.name
    },
    async play(wav, options) {
      let failure: unknown
      for (const player of [current, ...players.filter(other => other !== current)]) {
        try {
          await player.play(wav, options)
          current = player
          return
        } catch (error) {
          failure = error
        }
      }
      throw failure
    },
  }
}

/** A silent player: everything played is appended to one WAV file, which is valid after each piece. */
function fileSink(path: string): Player {
  let format: Buffer | undefined
  const pieces: Buffer[] = []
  return {
    name: path,
    async play(wav, { signal }) {
      if (signal.aborted || wav.length === 0) return
      const chunks = findChunks(Buffer.from(wav))
      if (!chunks.format || !chunks.data) throw new SpeakerError(NO_WAV)
      format ??= chunks.format
      pieces.push(chunks.data)
      try {
        await writeFile(path, wavFile(format, Buffer.concat(pieces)))
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        throw new SpeakerError(`The answer could not be written to ${path}: ${reason}`, { cause: error })
      }
    },
  }
}
