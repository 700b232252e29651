import { platform as currentPlatform } from '../../runtime/platform.ts'
import { type Mixer, mixers, type RunMixer } from './mixers.ts'
import { isMissing, runProgram } from './programs.ts'

export interface MixerSearch {
  /** Where mixers are looked for; the PATH of this process unless given. */
  path?: string
  platform?: NodeJS.Platform
  /** How long one run of a mixer may take. */
  mixerTimeoutMs?: number
  signal?: AbortSignal | undefined
}

/** A mixer that hangs on a dead sound server must leave time for the next one. */
const MIXER_TIMEOUT_MS = 5_000

/**
 * Does something with the first mixer that is there and with which it succeeds.
 * Throws with the reason of each if none does, and at once when the signal aborts.
 */
export async function useFirstWorkingMixer<T>(
  search: MixerSearch,
  operation: (mixer: Mixer, run: RunMixer) => Promise<T>,
): Promise<T> {
  const { path = process.env.PATH ?? '', platform = currentPlatform, signal } = search
  const candidates = mixers.filter(mixer => mixer.platform === undefined || mixer.platform === platform)
  const failures: string[] = []
  for (const mixer of candidates) {
    try {
      return await operation(mixer, runnerOf(mixer.program, { ...search, path }))
    } catch (error) {
      signal?.throwIfAborted()
      if (isMissing(error)) continue
      failures.push(`${mixer.program}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new Error(noMixerMessage(candidates, failures))
}

function runnerOf(program: string, { path, mixerTimeoutMs, signal }: MixerSearch): RunMixer {
  // LC_ALL: a translated mixer prints words and decimal commas that cannot be read.
  const env = { ...process.env, PATH: path, LC_ALL: 'C' }
  return args => runProgram(program, args, { env, timeoutMs: mixerTimeoutMs ?? MIXER_TIMEOUT_MS, signal })
}

function noMixerMessage(candidates: readonly Mixer[], failures: readonly string[]): string {
  if (failures.length > 0) return `None of this machine's mixers works: ${failures.join('; ')}`
  const programs = candidates.map(mixer => mixer.program).join(', ')
  return `This machine has no mixer that can be used: looked for ${programs} on the PATH. Install one of them.`
}
