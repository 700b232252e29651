import { type Device, fullName, KINDS, kindOf, STATUSES } from '../zwave/device.ts'
import { readingsOf } from '../zwave/readings.ts'
import {
  answer,
  FIELDS,
  fields,
  listWords,
  READS,
  refuse,
  type ToolContext,
  takes,
  UNKNOWN_GATEWAY,
  whyNotReady,
  type ZwaveTool,
} from './tool.ts'

/** `list_zwave_devices`: the devices, with their kinds and states. */
export const listDevices: ZwaveTool = {
  definition: {
    name: 'list_zwave_devices',
    title: 'List Z-Wave devices',
    description:
      'Lists the Z-Wave devices of the home with name, location, kind (switch, dimmer, cover, lock, thermostat, sensor) and ' +
      'current state, and the scenes of the gateway. ' +
      'Call it to find the exact name of a device before controlling it, or to answer which devices there are.',
    inputSchema: takes({
      filter: {
        type: 'string',
        description:
          'Only devices whose name, location or kind contains all of these words, e.g. "kitchen", "dimmer", "temp".',
      },
      includeInactive: {
        type: 'boolean',
        description: 'Include dead devices, i.e. those that no longer respond. Default: false.',
        default: false,
      },
    }),
    outputSchema: fields({
      devices: {
        type: 'array',
        items: fields({
          name: FIELDS.text,
          location: FIELDS.textOrNull,
          nodeId: { type: ['integer', 'null'] },
          kind: { type: 'string', enum: KINDS },
          status: { type: 'string', enum: STATUSES },
          state: {
            ...FIELDS.text,
            description: 'The state as text, e.g. "off", "dimmed to 40 %", "21.5 °C".',
          },
        }),
      },
      hiddenInactive: { ...FIELDS.integer, description: 'How many dead devices were left out.' },
      scenes: {
        type: 'array',
        items: FIELDS.text,
        description: 'The scenes that activate_scene can activate.',
      },
      live: { ...FIELDS.boolean, description: 'False: this is the last known state, not the current one.' },
    }),
    annotations: READS,
  },

  async run(args, { network }) {
    const unreachable = await whyNotReady(network)
    // Renames are not published, and callers take device names from this list.
    if (!unreachable && network.hasList) await network.refresh(0)
    const all = network.devices()
    const live = all.every(device => network.isLive(device))
    const problem = unreachable ?? notLive(live)
    if (problem && all.length === 0) return refuse(problem)
    const matching = all.filter(device => matches(device, String(args.filter ?? '')))
    const devices = args.includeInactive ? matching : matching.filter(device => device.status !== 'Dead')
    const hiddenInactive = matching.length - devices.length
    const scenes = args.filter === undefined ? network.scenes().map(({ name }) => name) : []
    const sentence = [
      describe(devices, hiddenInactive, args.filter !== undefined),
      hint(network, all),
      sayScenes(scenes),
    ]
      .filter(Boolean)
      .join(' ')
    return answer(problem ? `${problem} As last known: ${sentence}` : sentence, {
      devices: devices.map(toJson),
      hiddenInactive,
      scenes,
      live: !problem,
    })
  },
}

/** Why a state may be outdated although the broker is reachable. */
export function notLive(live: boolean): string | undefined {
  return live ? undefined : 'The gateway does not publish these values and did not answer a request for them.'
}

function hint({ gateway }: ToolContext['network'], devices: readonly Device[]): string {
  return devices.length === 0 && gateway.name === null ? UNKNOWN_GATEWAY : ''
}

function sayScenes(scenes: readonly string[]): string {
  if (scenes.length === 0) return ''
  return scenes.length === 1
    ? `There is 1 scene: ${scenes[0]}.`
    : `There are ${scenes.length} scenes: ${listWords(scenes)}.`
}

function matches(device: Device, filter: string): boolean {
  const text = `${device.name} ${device.location ?? ''} ${kindOf(device)}`.toLowerCase().replaceAll('_', ' ')
  const words = filter.toLowerCase().split(/[\s_]+/)
  return words.every(word => singulars(word).some(form => text.includes(form)))
}

/** People say "lights" and "switches" as often as "light". */
function singulars(word: string): string[] {
  return [word, word.replace(/s$/, ''), word.replace(/es$/, '')]
}

function toJson(device: Device): Record<string, unknown> {
  const { name, location = null, nodeId = null, status } = device
  return { name, location, nodeId, kind: kindOf(device), status, state: sayStates(device) }
}

function sayStates(device: Device): string {
  const readings = readingsOf(device)
  if (readings.length === 1) return readings[0]?.text ?? 'unknown'
  return readings.map(({ name, text }) => `${name}: ${text}`).join(', ') || 'unknown'
}

function describe(devices: readonly Device[], hidden: number, filtered: boolean): string {
  const inactive =
    hidden > 0 ? ` ${hidden} inactive ${hidden === 1 ? 'device is' : 'devices are'} not listed.` : ''
  if (devices.length === 0) return `${filtered ? 'No device matches.' : 'No devices are known.'}${inactive}`
  const said = devices.map(device => `${fullName(device)} (${sayWithStatus(device)})`)
  const count = devices.length === 1 ? 'There is 1 device' : `There are ${devices.length} devices`
  return `${count}: ${listWords(said)}.${inactive}`
}

function sayWithStatus(device: Device): string {
  return device.status === 'Dead' ? 'dead' : sayStates(device)
}
