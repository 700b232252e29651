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

/** A program that controls the volume of the default output. */
interface Mixer {
  readonly program: string
  /** The only platform it exists on; any if left out. */
  readonly platform?: NodeJS.Platform
  read(run: RunMixer): Promise<VolumeState>
  setLevel(run: RunMixer, percent: number): Promise<unknown>
  setMuted(run: RunMixer, muted: boolean): Promise<unknown>
}

/** A mixer that hangs on a dead sound server must leave time for the next one. */
const MIXER_TIMEOUT_MS = 5_000

/** The tool `volume`: the volume of this machine's default output, through whichever mixer it has. */
export function volume(options: Omit<MixerSearch, 'signal'> = {}) {
  return async ({ action, level }: VolumeArgs, { signal }: { signal?: AbortSignal } = {}) => {
    if (action === 'set' && level === undefined)
      throw new Error("The action 'set' needs a level from 0 to 100 (percent)")
    return useFirstWorkingMixer({ ...options, signal }, async (mixer, run) => {
      if (action === 'set' && level !== undefined) await mixer.setLevel(run, level)
      if (action === 'mute' || action === 'unmute') await mixer.setMuted(run, action === 'mute')
      const state = await mixer.read(run)
      const said = `volume is ${state.level} percent.`
      const text = state.muted ? `The sound is muted; the ${said}` : `The ${said}`
      return { ...state, mixer: mixer.program, text }
    })
  }
}

const WPCTL_SINK = '@DEFAULT_AUDIO_SINK@'
const PACTL_SINK = '@DEFAULT_SINK@'

/** In the order they are tried: closest to the sound server first. */
const mixers: readonly Mixer[] = [
  {
    program: 'wpctl',
    // Volume: 0.45 [MUTED]
    read: async run => {
      const output = await run(['get-volume', WPCTL_SINK])
      const level = Number(capture(/Volume:\s*([\d.]+)/, output)) * 100
      return { level: Math.round(level), muted: output.includes('[MUTED]') }
    },
    setLevel: (run, percent) => run(['set-volume', WPCTL_SINK, `${percent}%`]),
    setMuted: (run, muted) => run(['set-mute', WPCTL_SINK, muted ? '1' : '0']),
  },
  {
    program: 'pactl',
    // Volume: front-left: 29491 /  45% / -20.81 dB,   front-right: … and Mute: no
    read: async run => ({
      level: loudestChannel(/(\d{1,4})%/g, await run(['get-sink-volume', PACTL_SINK])),
      muted: capture(/Mute:\s*(yes|no)/, await run(['get-sink-mute', PACTL_SINK])) === 'yes',
    }),
    setLevel: (run, percent) => run(['set-sink-volume', PACTL_SINK, `${percent}%`]),
    setMuted: (run, muted) => run(['set-sink-mute', PACTL_SINK, muted ? '1' : '0']),
  },
  {
    program: 'amixer',
    // Front Left: Playback 29491 [45%] [-20.81dB] [on]
    read: async run => {
      const output = await run(['get', 'Master'])
      const muted = output.includes('[off]') && !output.includes('[on]')
      return { level: loudestChannel(/\[(\d{1,4})%\]/g, output), muted }
    },
    setLevel: (run, percent) => run(['set', 'Master', `${percent}%`]),
    setMuted: (run, muted) => run(['set', 'Master', muted ? 'mute' : 'unmute']),
  },
  {
    program: 'osascript',
    platform: 'darwin',
    // output volume:45, input volume:50, alert volume:100, output muted:false
    read: async run => {
      const output = await run(['-e', 'get volume settings'])
      const muted = capture(/output muted:(true|false)/, output) === 'true'
      return { level: Number(capture(/output volume:(\d+)/, output)), muted }
    },
    setLevel: (run, percent) => run(['-e', `set volume output volume ${percent}`]),
    setMuted: (run, muted) => run(['-e', `set volume output muted ${muted}`]),
  },
]

/** Channels may differ; desktops show the loudest one as the volume. */
function loudestChannel(pattern: RegExp, output: string): number {
  const levels = [...output.matchAll(pattern)].map(match => Number(match[1]))
  if (levels.length === 0) throw unreadable(output)
  return Math.max(...levels)
}

function capture(pattern: RegExp, output: string): string {
  const found = pattern.exec(output)?.[1]
  if (found === undefined) throw unreadable(output)
  return found
}

function unreadable(output: string): Error {
  const shown = output.trim().replace(/\s+/g, ' ').slice(0, 100)
  return new Error(shown ? `it printed '${shown}', which contains no volume` : 'it printed nothing')
}

/**
 * Runs an operation with the first installed mixer for which it succeeds.
 * Throws with each mixer's error if none does, and immediately when the signal aborts.
 */
export async function useFirstWorkingMixer<T>(
  search: MixerSearch,
  operation: (mixer: Mixer, run: RunMixer) => Promise<T>,
): Promise<T> {
  const { platform = currentPlatform, signal } = search
  const candidates = mixers.filter(mixer => mixer.platform === undefined || mixer.platform === platform)
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
