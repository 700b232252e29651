import { type Device, fullName, kindOf } from '../zwave/device.ts'
import { readingsOf } from '../zwave/readings.ts'
import { answer, brokerUnreachable, listWords, refuse, type ZwaveTool } from './tool.ts'

/** `list_zwave_devices`: which devices there are, what they are and in which state. */
export const listDevices: ZwaveTool = {
  definition: {
    name: 'list_zwave_devices',
    title: 'List Z-Wave devices',
    description:
      'Lists the Z-Wave devices of the home with name, location, kind (switch, dimmer, sensor) and current state. ' +
      'Call it to find out the exact name of a device before controlling it, or to answer which devices there are.',
    inputSchema: {
      type: 'object',
      properties: {
        filter: {
          type: 'string',
          description:
            'Only devices whose name, location or kind has all of these words, e.g. "kitchen", "dimmer", "temp".',
        },
        includeInactive: {
          type: 'boolean',
          description: 'Also list devices that are dead, that is, no longer answer. Default: false.',
          default: false,
        },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        devices: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              location: { type: ['string', 'null'] },
              nodeId: { type: ['integer', 'null'] },
              kind: { type: 'string', enum: ['switch', 'dimmer', 'sensor', 'other'] },
              status: { type: 'string', enum: ['Alive', 'Awake', 'Asleep', 'Dead', 'Unknown'] },
              state: {
                type: 'string',
                description: 'The state in words, e.g. "off", "dimmed to 40 %", "21.5 °C".',
              },
            },
            required: ['name', 'location', 'nodeId', 'kind', 'status', 'state'],
            additionalProperties: false,
          },
        },
        hiddenInactive: { type: 'integer', description: 'How many dead devices were left out.' },
        live: {
          type: 'boolean',
          description: 'False: the broker is unreachable, and this is the last known state.',
        },
      },
      required: ['devices', 'hiddenInactive', 'live'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },

  async run(args, { network }) {
    const readiness = await network.ready()
    const all = network.devices()
    const problem = readiness.ready ? undefined : brokerUnreachable(network.brokerUrl, readiness.cause)
    if (problem && all.length === 0) return refuse(problem)
    const matching = all.filter(device => matches(device, String(args.filter ?? '')))
    const devices = args.includeInactive ? matching : matching.filter(device => device.status !== 'Dead')
    const hiddenInactive = matching.length - devices.length
    const sentence = describe(devices, hiddenInactive, args.filter !== undefined)
    return answer(problem ? `${problem} As last known: ${sentence}` : sentence, {
      devices: devices.map(toJson),
      hiddenInactive,
      live: readiness.ready,
    })
  },
}

function matches(device: Device, filter: string): boolean {
  const text = `${device.name} ${device.location ?? ''} ${kindOf(device)}`.toLowerCase().replaceAll('_', ' ')
  const words = filter.toLowerCase().split(/[\s_]+/)
  return words.every(word => singulars(word).some(form => text.includes(form)))
}

/** "lights" and "switches" are asked for as often as "light". */
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
