import { defineTool, type InvokeOptions, type Tool } from '../tool.ts'
import type { Mixer, RunMixer, VolumeState } from './mixers.ts'
import type { MixerSearch } from './working-mixer.ts'

export type VolumeOptions = Omit<MixerSearch, 'signal'>

type VolumeArgs = { action: 'get' | 'set' | 'mute' | 'unmute'; level?: number }

interface VolumeResult extends VolumeState {
  mixer: string
  text: string
}

const schema = {
  type: 'object',
  properties: {
    action: {
      type: 'string',
      enum: ['get', 'set', 'mute', 'unmute'],
      description: 'get: return the volume; set: change it to level; mute, unmute: sound off, on',
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

/** The tool `volume`: the volume of this machine's default output, through whichever mixer it has. */
export function volumeTool(options: VolumeOptions = {}): Tool {
  return defineTool<VolumeArgs>({
    name: 'volume',
    description:
      "Gets, sets, mutes or unmutes the volume of this machine's speakers, in percent. Use it when someone asks how loud it is, or wants it louder, quieter or silent; to change it by a step, get it first and then set it.",
    schema,
    idempotent: true,
    sentences: [
      '(set|turn|put|change|raise|lower|increase|decrease|reduce) [the] (volume|sound) [up|down] (to|at) {level} {action=set}',
      'turn [the] (volume|sound) all the way up {action=set} {level=100}',
      '[the] volume [to|at] {level} {action=set}',
      '{action:mute|unmute} [the] [volume|sound|speakers|speaker|it]',
      '(turn|switch) off [the] (volume|sound|speakers) {action=mute}',
      '(turn|switch) [the] (volume|sound|speakers) off {action=mute}',
      '[the] sound {action:off=mute|on=unmute}',
      'be (quiet|silent) {action=mute}',
      '(turn|switch) [back] on [the] (volume|sound|speakers) {action=unmute}',
      '(turn|switch) [the] (volume|sound|speakers) [back] on {action=unmute}',
      '(what is|tell me|get) [the] [current] volume [level|at|set to] {action=get}',
      'how loud is (it|the (volume|sound)) {action=get}',
    ],
    handler: async (args, invokeOptions?: Pick<InvokeOptions, 'signal'>) => {
      if (args.action === 'set' && args.level === undefined) {
        throw new Error("The action 'set' needs a level from 0 to 100 (percent)")
      }
      const { useFirstWorkingMixer } = await import('./working-mixer.ts')
      const search = { ...options, signal: invokeOptions?.signal }
      return useFirstWorkingMixer(search, (mixer, run) => operate(mixer, run, args))
    },
  })
}

/** Performs the action and reads back the result. */
async function operate(mixer: Mixer, run: RunMixer, { action, level }: VolumeArgs): Promise<VolumeResult> {
  if (action === 'set' && level !== undefined) await mixer.setLevel(run, level)
  if (action === 'mute' || action === 'unmute') await mixer.setMuted(run, action === 'mute')
  const state = await mixer.read(run)
  return { ...state, mixer: mixer.program, text: describe(state) }
}

function describe({ level, muted }: VolumeState): string {
  return muted ? `The sound is muted; the volume is ${level} percent.` : `The volume is ${level} percent.`
}
