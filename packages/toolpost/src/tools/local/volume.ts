import { execFile } from 'node:child_process'
import { packageJson } from '../../util/package-root.ts'
import { platform as currentPlatform } from '../../util/platform.ts'
import { describeThrown } from '../../util/quietly.ts'

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

/** The tool `volume`: the volume of this machine's default output, through the first installed mixer that works. */
export function volume({ path = process.env.PATH, platform = currentPlatform } = {}) {
  return async (
    { action, level }: { action: 'get' | 'set' | 'mute' | 'unmute'; level?: number },
    { signal }: { signal?: AbortSignal } = {},
  ) => {
    if (action === 'set' && level === undefined)
      throw new Error("The action 'set' needs a level from 0 to 100 (percent)")
    const mixers: Mixer[] = packageJson('data/mixers.json')
    const candidates = mixers.filter(mixer => (mixer.platform ?? platform) === platform)
    const failures: string[] = []
    for (const mixer of candidates) {
      const run = (args: string[]) => runMixer(mixer.program, args, path, signal)
      try {
        if (action !== 'get') await run(mixer[action].map(each => each.replace('$level', String(level))))
        let output = ''
        for (const args of mixer.get) output += await run(args)
        return stateIn(output, mixer)
      } catch (error) {
        signal?.throwIfAborted()
        const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
        if (code !== 'ENOENT' && code !== 'EACCES')
          failures.push(`${mixer.program}: ${describeThrown(error)}`)
      }
    }
    if (failures.length > 0) throw new Error(`None of this machine's mixers works: ${failures.join('; ')}`)
    const programs = candidates.map(({ program }) => program).join(', ')
    throw new Error(`This machine has no usable mixer: looked for ${programs} on the PATH. Install one.`)
  }
}

/** The volume in percent, which may go beyond 100, and whether it is muted. */
function stateIn(output: string, mixer: Mixer) {
  const levels = [...output.matchAll(new RegExp(mixer.level, 'g'))].map(match => Number(match[1]))
  if (levels.length === 0) throw new Error(`it printed '${output.trim().slice(0, 100)}', which has no volume`)
  // Channels may differ; desktops show the loudest one as the volume.
  const level = Math.round((100 * Math.max(...levels)) / mixer.full)
  const muted = new RegExp(mixer.muted).test(output)
  const text = `${muted ? 'The sound is muted; the' : 'The'} volume is ${level} percent.`
  return { level, muted, mixer: mixer.program, text }
}

/** Runs a mixer without a shell and returns its stdout. Rejects with its output if it fails or is too slow. */
function runMixer(program: string, args: string[], path?: string, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    // LC_ALL: a localised mixer prints words and decimal commas that we cannot parse.
    const env = { ...process.env, PATH: path, LC_ALL: 'C' }
    // SIGKILL: a program that waits for a dead sound server may ignore anything less.
    const settings = { env, timeout: MIXER_TIMEOUT_MS, killSignal: 'SIGKILL', windowsHide: true } as const
    const child = execFile(program, args, settings, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      const reason = error.killed ? 'no answer' : (stderr || stdout).trim().split('\n')[0] || error.message
      reject(new Error(reason, { cause: error }))
    })
    // `execFile` would send SIGTERM on its own `signal`, whatever `killSignal` says.
    signal?.addEventListener('abort', () => child.kill('SIGKILL'), { once: true })
  })
}
