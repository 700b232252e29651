import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { runProgram } from '../programs/run-program.ts'
import { withTemporaryWav } from '../programs/temporary-file.ts'
import { SpeakerError } from './speaker.ts'
import { wavParts } from './wav-file.ts'

/** Makes a WAV file heard. */
export interface Player {
  readonly name: string
  /** Resolves when it has been heard, and at once when the signal is aborted. Rejects with a SpeakerError. */
  play(wav: Uint8Array, options: { signal: AbortSignal }): Promise<void>
}

/** The players that are looked for, in this order. */
export const PLAYER_PROGRAMS = ['pw-play', 'paplay', 'aplay', 'play', 'afplay'] as const

/** The arguments of those that read a WAV from their standard input; the others are given a file. */
const ARGUMENTS_FOR_STDIN: Readonly<Record<string, readonly string[]>> = {
  aplay: ['-q', '-t', 'wav', '-'],
  play: ['-q', '-t', 'wav', '-'],
}
/** A player that takes this much longer than the sound hangs. */
const PLAYER_GRACE_MS = 10_000

/** Plays with a program: one of `PLAYER_PROGRAMS`, or any other that plays the file it is given. */
export function programPlayer(
  program: string,
  { environment }: { environment?: NodeJS.ProcessEnv | undefined } = {},
): Player {
  const stdinArgs = ARGUMENTS_FOR_STDIN[basename(program)]
  const start = (
    wav: Uint8Array,
    args: readonly string[],
    rest: { input?: Uint8Array; signal: AbortSignal },
  ) => {
    const deadlineMs = durationMs(wav) + PLAYER_GRACE_MS
    return runProgram({ program, args, environment, deadlineMs, Failure: SpeakerError, ...rest })
  }
  const playFile = (wav: Uint8Array, signal: AbortSignal) =>
    withTemporaryWav(async path => {
      await writeFile(path, wav, { signal })
      await start(wav, [path], { signal })
    })
  return {
    name: basename(program),
    async play(wav, { signal }) {
      if (signal.aborted || wav.length === 0) return
      const heard = stdinArgs ? start(wav, stdinArgs, { input: wav, signal }) : playFile(wav, signal)
      await heard.catch(unlessAborted(signal))
    },
  }
}

/** Plays with the first of these that works: a player can be installed and have nothing to play on. */
export function firstThatWorks(players: readonly [Player, ...Player[]]): Player {
  let [current, ...others] = players
  return {
    get name() {
      return current.name
    },
    async play(wav, options) {
      for (;;) {
        try {
          return await current.play(wav, options)
        } catch (error) {
          const [next, ...rest] = others
          if (!next) throw error
          current = next
          others = rest
        }
      }
    },
  }
}

function durationMs(wav: Uint8Array): number {
  const { samples, bytesPerSecond } = wavParts(wav)
  return (samples.length / Math.max(1, bytesPerSecond)) * 1_000
}

function unlessAborted(signal: AbortSignal): (error: unknown) => void {
  return error => {
    if (signal.aborted) return
    throw error instanceof SpeakerError ? error : new SpeakerError(String(error), { cause: error })
  }
}
