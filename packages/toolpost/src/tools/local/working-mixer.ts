import { platform as currentPlatform } from '../../runtime/platform.ts'
import { describeThrown } from '../../runtime/quietly.ts'
import { type Mixer, mixers, type RunMixer } from './mixers.ts'
import { isMissingProgram, runProgram } from './programs.ts'

export interface MixerSearch {
  /** Where to look for mixers; the PATH of this process if left out. */
  path?: string
  platform?: NodeJS.Platform
  /** How long one run of a mixer may take. */
  mixerTimeoutMs?: number
  signal?: AbortSignal | undefined
}

/** A mixer that hangs on a dead sound server must leave time for the next one. */
const MIXER_TIMEOUT_MS = 5_000

/**
 * Runs an operation with the first installed mixer for which it succeeds.
 * Throws with each mixer's error if none does, and immediately when the signal aborts.
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
      if (isMissingProgram(error)) continue
      failures.push(`${mixer.program}: ${describeThrown(error)}`)
    }
  }
  throw new Error(noMixerMessage(candidates, failures))
}

function runnerOf(program: string, { path, mixerTimeoutMs, signal }: MixerSearch): RunMixer {
  // LC_ALL: a localised mixer prints words and decimal commas that we cannot parse.
  const env = { ...process.env, PATH: path, LC_ALL: 'C' }
  return args => runProgram(program, args, { env, timeoutMs: mixerTimeoutMs ?? MIXER_TIMEOUT_MS, signal })
}

function noMixerMessage(candidates: readonly Mixer[], failures: readonly string[]): string {
  if (failures.length > 0) return `None of this machine's mixers works: ${failures.join('; ')}`
  const programs = candidates.map(mixer => mixer.program).join(', ')
  return `This machine has no usable mixer: looked for ${programs} on the PATH. Install one of them.`
}
