import { defineTool, type InvokeOptions, type Tool } from '../tool.ts'
import { type Mixer, mixers, type RunMixer, type VolumeState } from './mixers.ts'
import { findProgram, runProgram } from './programs.ts'

export interface VolumeOptions {
  /** Where mixers are looked for; the PATH of this process unless given. */
  path?: string
  platform?: NodeJS.Platform
  /** How long one run of a mixer may take. */
  mixerTimeoutMs?: number
}

type VolumeArgs = { action: 'get' | 'set' | 'mute' | 'unmute'; level?: number }

interface VolumeResult extends VolumeState {
  mixer: string
  text: string
}

/** A mixer that hangs on a dead sound server must leave time for the next one. */
const MIXER_TIMEOUT_MS = 5_000

const schema = {
  type: 'object',
  properties: {
    action: {
      type: 'string',
      enum: ['get', 'set', 'mute', 'unmute'],
      description: 'get: tell the volume; set: change it to level; mute, unmute: sound off, on',
    },
    level: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      description: 'Volume in percent, 0 (silent) to 100 (full); needed for set only',
    },
  },
  required: ['action'],
  additionalProperties: false,
}

/** The tool `volume`: the loudness of this machine's default output, through whichever mixer it has. */
export function volumeTool(options: VolumeOptions = {}): Tool {
  return defineTool<VolumeArgs>({
    name: 'volume',
    description:
      "Tells, sets, mutes or unmutes the volume of this machine's speakers, in percent. Use it when someone asks how loud it is, or wants it louder, quieter or silent; to change it by a step, get it first and then set it.",
    schema,
    idempotent: true,
    sentences: [
      '{action:set} [the] (volume|sound) to {level} [percent]',
      '{action:mute|unmute} [the] (volume|sound|speakers)',
      '{action:get} [the] volume',
    ],
    handler: async (args, invokeOptions?: Pick<InvokeOptions, 'signal'>) => {
      if (args.action === 'set' && args.level === undefined) {
        throw new Error("The action 'set' needs a level from 0 to 100 (percent)")
      }
      return withFirstWorkingMixer(options, invokeOptions?.signal, (mixer, run) => operate(mixer, run, args))
    },
  })
}

/** Does what was asked for and reads back what came of it. */
async function operate(mixer: Mixer, run: RunMixer, { action, level }: VolumeArgs): Promise<VolumeResult> {
  if (action === 'set' && level !== undefined) await mixer.setLevel(run, level)
  if (action === 'mute' || action === 'unmute') await mixer.setMuted(run, action === 'mute')
  const state = await mixer.read(run)
  return { ...state, mixer: mixer.program, text: describe(state) }
}

function describe({ level, muted }: VolumeState): string {
  return muted ? `The sound is muted; the volume is ${level} percent.` : `The volume is ${level} percent.`
}

type Operation = (mixer: Mixer, run: RunMixer) => Promise<VolumeResult>

async function withFirstWorkingMixer(
  options: VolumeOptions,
  signal: AbortSignal | undefined,
  operation: Operation,
): Promise<VolumeResult> {
  const { path = process.env.PATH ?? '', platform = process.platform } = options
  const candidates = mixers.filter(mixer => mixer.platform === undefined || mixer.platform === platform)
  // LC_ALL: a translated mixer prints words and decimal commas that cannot be read.
  const env = { ...process.env, PATH: path, LC_ALL: 'C' }
  const settings = { env, timeoutMs: options.mixerTimeoutMs ?? MIXER_TIMEOUT_MS, signal }
  const failures: string[] = []
  for (const mixer of candidates) {
    const file = await findProgram(mixer.program, path)
    if (file === undefined) continue
    try {
      return await operation(mixer, args => runProgram(file, args, settings))
    } catch (error) {
      signal?.throwIfAborted()
      failures.push(`${mixer.program}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new Error(noMixerMessage(candidates, failures))
}

function noMixerMessage(candidates: readonly Mixer[], failures: readonly string[]): string {
  if (failures.length > 0) return `No mixer of this machine works: ${failures.join('; ')}`
  const programs = candidates.map(mixer => mixer.program).join(', ')
  return `This machine has no mixer that can be used: looked for ${programs} on the PATH. Install one of them.`
}
