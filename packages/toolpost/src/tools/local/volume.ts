import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../runtime/package-root.ts'
import { platform as currentPlatform } from '../../runtime/platform.ts'
import { describeThrown } from '../../runtime/quietly.ts'

export interface MixerSearch {
  /** Where to look for mixers; the PATH of this process if left out. */
  path?: string
  platform?: NodeJS.Platform
  /** How long one run of a mixer may take. */
  mixerTimeoutMs?: number
  signal?: AbortSignal | undefined
}

interface VolumeArgs {
  action: 'get' | 'set' | 'mute' | 'unmute'
  level?: number
}

/** The volume in percent (a mixer may go beyond 100), and whether it is muted. */
interface VolumeState {
  level: number
  muted: boolean
}

/** Runs a mixer's program with these arguments and returns its output. */
type RunMixer = (args: readonly string[]) => Promise<string>

/** A program that controls the volume of the default output, as in `data/mixers.json`. */
interface MixerData {
  program: string
  /** The only platform it exists on; any if left out. */
  platform?: NodeJS.Platform
  get: string[][]
  /** Pattern of a channel's level in the output of `get`; `full` is 100 percent. */
  level: string
  full: number
  /** Pattern of the output if the sound is off. */
  muted: string
  /** Arguments, with `$level` in percent. */
  set: string[]
  mute: string[]
  unmute: string[]
}

interface Mixer extends MixerData {
  read(run: RunMixer): Promise<VolumeState>
}

/** A mixer that hangs on a dead sound server must leave time for the next one. */
const MIXER_TIMEOUT_MS = 5_000

/** The tool `volume`: the volume of this machine's default output, through whichever mixer it has. */
export function volume(options: Omit<MixerSearch, 'signal'> = {}) {
  return async ({ action, level }: VolumeArgs, { signal }: { signal?: AbortSignal } = {}) => {
    if (action === 'set' && level === undefined)
      throw new Error("The action 'set' needs a level from 0 to 100 (percent)")
    return useFirstWorkingMixer({ ...options, signal }, async (mixer, run) => {
      if (action !== 'get') await run(mixer[action].map(each => each.replace('$level', String(level))))
      const state = await mixer.read(run)
      const said = `volume is ${state.level} percent.`
      const text = state.muted ? `The sound is muted; the ${said}` : `The ${said}`
      return { ...state, mixer: mixer.program, text }
    })
  }
}

/** In the order they are tried: closest to the sound server first. */
function readMixers(): Mixer[] {
  const file = join(packageRoot(), 'data', 'mixers.json')
  const mixers: MixerData[] = JSON.parse(readFileSync(file, 'utf8'))
  return mixers.map(mixer => ({ ...mixer, read: run => readVolume(mixer, run) }))
}

async function readVolume({ get, level, full, muted }: MixerData, run: RunMixer): Promise<VolumeState> {
  const outputs: string[] = []
  for (const args of get) outputs.push(await run(args))
  const [output = ''] = outputs
  const levels = [...output.matchAll(new RegExp(level, 'g'))].map(match => Number(match[1]))
  if (levels.length === 0) {
    const shown = output.trim().replace(/\s+/g, ' ').slice(0, 100)
    throw new Error(shown ? `it printed '${shown}', which contains no volume` : 'it printed nothing')
  }
  // Channels may differ; desktops show the loudest one as the volume.
  return {
    level: Math.round((100 * Math.max(...levels)) / full),
    muted: new RegExp(muted).test(outputs.join('')),
  }
}

/**
 * Runs an operation with the first installed mixer for which it succeeds.
 * Throws with each mixer's error if none does, and immediately when the signal aborts.
 */
async function useFirstWorkingMixer<T>(
  search: MixerSearch,
  operation: (mixer: Mixer, run: RunMixer) => Promise<T>,
): Promise<T> {
  const { platform = currentPlatform, signal } = search
  const candidates = readMixers().filter(mixer => (mixer.platform ?? platform) === platform)
  const failures: string[] = []
  for (const mixer of candidates) {
    try {
      return await operation(mixer, args => runMixer(mixer.program, args, search))
    } catch (error) {
      signal?.throwIfAborted()
      if (isMissingProgram(error)) continue
      failures.push(`${mixer.program}: ${describeThrown(error)}`)
    }
  }
  if (failures.length > 0) throw new Error(`None of this machine's mixers works: ${failures.join('; ')}`)
  const programs = candidates.map(({ program }) => program).join(', ')
  throw new Error(
    `This machine has no usable mixer: looked for ${programs} on the PATH. Install one of them.`,
  )
}

/** Runs a mixer without a shell and returns its stdout. Rejects with its output if it fails or is too slow. */
async function runMixer(program: string, args: readonly string[], search: MixerSearch): Promise<string> {
  const { path = process.env.PATH ?? '', mixerTimeoutMs: timeout = MIXER_TIMEOUT_MS, signal } = search
  const { execFile } = await import('node:child_process')
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    // LC_ALL: a localised mixer prints words and decimal commas that we cannot parse.
    const env = { ...process.env, PATH: path, LC_ALL: 'C' }
    // SIGKILL: a program that waits for a dead sound server may ignore anything less.
    const settings = { env, timeout, killSignal: 'SIGKILL', windowsHide: true } as const
    const child = execFile(program, [...args], settings, (error, stdout, stderr) => {
      signal?.removeEventListener('abort', end)
      if (!error) return resolve(stdout)
      const isLate = error.killed && error.signal === 'SIGKILL'
      const said = (stderr || stdout).trim().split('\n')[0]?.trim()
      const reason = said || (typeof error.code === 'number' ? `exit code ${error.code}` : error.message)
      reject(new Error(isLate ? `no answer within ${timeout / 1000} s` : reason, { cause: error }))
    })
    // `execFile` would send SIGTERM on its own `signal`, whatever `killSignal` says.
    const end = () => {
      child.kill('SIGKILL')
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    signal?.addEventListener('abort', end)
  })
}

function isMissingProgram(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } }
  return cause?.code === 'ENOENT' || cause?.code === 'EACCES'
}
