import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../util/package-root.ts'
import { platform as currentPlatform } from '../../util/platform.ts'
import { describeThrown } from '../../util/quietly.ts'

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

/** A program that controls the volume of the default output, as in `data/mixers.json`, closest to the sound server first. */
interface Mixer {
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

/** A mixer that hangs on a dead sound server must leave time for the next one. */
const MIXER_TIMEOUT_MS = 5_000

/**
 * The tool `volume`: the volume of this machine's default output, through the first installed mixer that works. Throws with
 * each mixer's error if none does, and immediately when the signal aborts.
 */
export function volume(search: Omit<MixerSearch, 'signal'> = {}) {
  const { platform = currentPlatform } = search
  return async (args: VolumeArgs, { signal }: { signal?: AbortSignal } = {}) => {
    if (args.action === 'set' && args.level === undefined)
      throw new Error("The action 'set' needs a level from 0 to 100 (percent)")
    const mixers: Mixer[] = JSON.parse(readFileSync(join(packageRoot(), 'data', 'mixers.json'), 'utf8'))
    const candidates = mixers.filter(mixer => (mixer.platform ?? platform) === platform)
    const failures: string[] = []
    for (const mixer of candidates) {
      try {
        return await useMixer(mixer, args, { ...search, signal })
      } catch (error) {
        signal?.throwIfAborted()
        const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
        if (code !== 'ENOENT' && code !== 'EACCES')
          failures.push(`${mixer.program}: ${describeThrown(error)}`)
      }
    }
    if (failures.length > 0) throw new Error(`None of this machine's mixers works: ${failures.join('; ')}`)
    const programs = candidates.map(({ program }) => program).join(', ')
    throw new Error(
      `This machine has no usable mixer: looked for ${programs} on the PATH. Install one of them.`,
    )
  }
}

/** Changes the volume if asked to, and reads it: in percent, which may go beyond 100, and whether it is muted. */
async function useMixer(mixer: Mixer, { action, level: wanted }: VolumeArgs, search: MixerSearch) {
  const { program, get, full } = mixer
  const run = (args: readonly string[]) => runMixer(program, args, search)
  if (action !== 'get') await run(mixer[action].map(each => each.replace('$level', String(wanted))))
  const outputs: string[] = []
  for (const args of get) outputs.push(await run(args))
  const [output = ''] = outputs
  const levels = [...output.matchAll(new RegExp(mixer.level, 'g'))].map(match => Number(match[1]))
  if (levels.length === 0) {
    const shown = output.trim().replace(/\s+/g, ' ').slice(0, 100)
    throw new Error(shown ? `it printed '${shown}', which contains no volume` : 'it printed nothing')
  }
  // Channels may differ; desktops show the loudest one as the volume.
  const level = Math.round((100 * Math.max(...levels)) / full)
  const muted = new RegExp(mixer.muted).test(outputs.join(''))
  const said = `volume is ${level} percent.`
  return { level, muted, mixer: program, text: muted ? `The sound is muted; the ${said}` : `The ${said}` }
}

/** Runs a mixer without a shell and returns its stdout. Rejects with its output if it fails or is too slow. */
function runMixer(program: string, args: readonly string[], search: MixerSearch): Promise<string> {
  const { path = process.env.PATH ?? '', mixerTimeoutMs: timeout = MIXER_TIMEOUT_MS, signal } = search
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
