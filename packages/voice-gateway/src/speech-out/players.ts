import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { type Clock, systemClock } from 'toolpost'
import { runProgram } from '../programs/run-program.ts'
import { withTemporaryWav } from '../programs/temporary-file.ts'
import { SpeakerError } from './speaker.ts'
import { wavParts } from './wav-file.ts'

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
/** A player that failed is retried after this time, or earlier if no other is left. */
const PASSED_OVER_MS = 60_000
/** Even for a short sound, a program needs this long to start and find that it cannot play. */
const SHORTEST_START_MS = 300

/** Plays with a program: one of `PLAYER_PROGRAMS`, or any other that plays a file given as its argument. */
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
 * Plays with the first of these that works: an installed player may have no device to play on. One that failed is
 * skipped for a minute, as long as there is another; once all have failed, it starts over with the first.
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
    /** The name of the one that played last. */
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
        // Do not repeat what was already heard; another player gets the next sound.
        if (clock.now() - began >= handOverMs(wav)) break
      }
      throw failure
    },
  }
}

/** A player that fails earlier than this has not made the sound audible. */
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
