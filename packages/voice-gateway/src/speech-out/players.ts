import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { type Clock, systemClock } from 'toolpost'
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
/** A player that failed is tried again after this time, or earlier if no other is left. */
const PASSED_OVER_MS = 60_000
/** Even for a short sound, a program needs so much time to start and to find that it cannot play. */
const SHORTEST_START_MS = 300

/** Plays with a program: one of `PLAYER_PROGRAMS`, or any other that plays the file it is given. */
export function programPlayer(
  program: string,
  { environment }: { environment?: NodeJS.ProcessEnv | undefined } = {},
): Player {
  const name = basename(program).replace(/\.exe$/i, '')
  const stdinArgs = ARGUMENTS_FOR_STDIN[name]
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
    name,
    async play(wav, { signal }) {
      if (signal.aborted || wav.length === 0) return
      const heard = stdinArgs ? start(wav, stdinArgs, { input: wav, signal }) : playFile(wav, signal)
      await heard.catch(unlessAborted(signal))
    },
  }
}

/**
 * Plays with the first of these that works: a player can be installed and have nothing to play on. One that failed is
 * passed over for a minute, as long as there is another; when all have failed, it begins again with the first.
 */
export function firstThatWorks(
  players: readonly [Player, ...Player[]],
  { clock = systemClock }: { clock?: Clock | undefined } = {},
): Player {
  let [last] = players
  const failedAt = new Map<Player, number>()
  const isPassedOver = (player: Player) => clock.now() - (failedAt.get(player) ?? -Infinity) < PASSED_OVER_MS
  const inTurn = () => [...players].sort((a, b) => Number(isPassedOver(a)) - Number(isPassedOver(b)))
  return {
    /** Of the one that played last. */
    get name() {
      return last.name
    },
    async play(wav, options) {
      let failure: unknown
      for (const player of inTurn()) {
        const began = clock.now()
        try {
          await player.play(wav, options)
          failedAt.delete(player)
          last = player
          return
        } catch (error) {
          failure = error
        }
        failedAt.set(player, clock.now())
        // What was heard is not played again: the next sound is for another player.
        if (clock.now() - began >= handOverMs(wav)) break
      }
      throw failure
    },
  }
}

/** A player that fails earlier than this has not let the sound be heard. */
function handOverMs(wav: Uint8Array): number {
  return Math.max(SHORTEST_START_MS, durationMs(wav) / 2)
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
