import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { findChunks, wavFile } from '../audio/wav.ts'
import { runProgram, withTemporaryWav } from '../programs/run-program.ts'
import { SpeakerError } from './speaker.ts'

/** Plays WAV files. */
export interface Player {
  readonly name: string
  /** Resolves when it has been played, or immediately when the signal is aborted. Rejects with a SpeakerError. */
  play(wav: Uint8Array, options: { signal: AbortSignal }): Promise<void>
}

/** The players to look for, in this order. */
export const PLAYER_PROGRAMS = ['pw-play', 'paplay', 'aplay', 'play', 'afplay'] as const

/** The arguments of those that can read a WAV from stdin; the others get a file. */
const ARGUMENTS_FOR_STDIN: Readonly<Record<string, readonly string[]>> = {
  aplay: ['-q', '-t', 'wav', '-'],
  play: ['-q', '-t', 'wav', '-'],
}
/** A player that takes this much longer than the sound is hanging. */
const PLAYER_GRACE_MS = 10_000

/** Plays with a program: one of `PLAYER_PROGRAMS`, or any other that plays a file given as its argument. */
export function programPlayer(program: string, environment?: NodeJS.ProcessEnv | undefined): Player {
  const name = basename(program).replace(/\.exe$/i, '')
  const stdinArgs = ARGUMENTS_FOR_STDIN[name]
  const run = async (wav: Uint8Array, signal: AbortSignal) => {
    const deadlineMs = durationMs(wav) + PLAYER_GRACE_MS
    const common = { program, environment, deadlineMs, signal, Failure: SpeakerError }
    if (stdinArgs) return runProgram({ ...common, args: stdinArgs, input: wav })
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
export function firstThatWorks(players: readonly [Player, ...Player[]]): Player {
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
export function fileSink(path: string): Player {
  let format: Buffer | undefined
  const pieces: Buffer[] = []
  return {
    name: path,
    async play(wav, { signal }) {
      if (signal.aborted || wav.length === 0) return
      const chunks = findChunks(Buffer.from(wav))
      if (!chunks.format || !chunks.data) throw new SpeakerError('The voice did not produce a WAV file.')
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

function durationMs(wav: Uint8Array): number {
  const { format, data } = findChunks(Buffer.from(wav))
  return ((data?.length ?? 0) / Math.max(1, format?.readUInt32LE(8) ?? 1)) * 1_000
}
