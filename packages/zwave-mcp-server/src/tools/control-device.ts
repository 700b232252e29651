import { type Actuator, actuatorsOf, type Device, fullName } from '../zwave/device.ts'
import { RESTORE_LEVEL, toPercent, toZwaveLevel } from '../zwave/levels.ts'
import type { Primitive } from '../zwave/payload.ts'
import { sayState } from '../zwave/readings.ts'
import type { CommandOutcome, ZwaveNetwork } from '../zwave/zwave-network.ts'
import { pickDevice } from './pick-device.ts'
import { type Arguments, answer, brokerUnreachable, listWords, refuse, type ZwaveTool } from './tool.ts'

type Action = 'on' | 'off' | 'dim'

/** What is to be sent, and which report means that it was done. */
interface Order {
  readonly action: Action
  readonly value: Primitive
  readonly accepts: (value: Primitive) => boolean
}

type Target =
  | { readonly ok: true; readonly device: Device; readonly actuator: Actuator; readonly name: string }
  | { readonly ok: false; readonly reason: string }

/** `control_zwave_device`: switches or dims a device and waits for its own report. */
export const controlDevice: ZwaveTool = {
  definition: {
    name: 'control_zwave_device',
    title: 'Control a Z-Wave device',
    description:
      'Switches a Z-Wave switch or dimmer on or off, or dims a dimmer to a level. It waits for the device to report its ' +
      'new state and says what it reported; if the device does not report in time, it says that the command was sent and ' +
      'not confirmed: then do not claim that it worked. Sensors cannot be controlled.',
    inputSchema: {
      type: 'object',
      properties: {
        deviceName: {
          type: 'string',
          minLength: 1,
          description:
            'The name of the device, e.g. "Living Room Light"; upper and lower case do not matter. Where several devices ' +
            'share a name, put the location before it: "kitchen light".',
        },
        action: {
          type: 'string',
          enum: ['on', 'off', 'dim'],
          description:
            'on: switch on (a dimmer goes to its last level). off: switch off. dim: set the level of a dimmer.',
        },
        level: {
          type: 'number',
          minimum: 0,
          maximum: 100,
          description: 'Brightness in percent, 0 to 100. Only with the action dim, and needed there.',
        },
      },
      required: ['deviceName', 'action'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        device: { type: 'string' },
        location: { type: ['string', 'null'] },
        nodeId: { type: ['integer', 'null'] },
        endpoint: { type: 'integer' },
        action: { type: 'string', enum: ['on', 'off', 'dim'] },
        level: { type: ['number', 'null'], description: 'The level that was asked for, in percent.' },
        confirmed: { type: 'boolean', description: 'Whether the device itself reported that it was done.' },
        reported: {
          type: ['boolean', 'number', 'string', 'null'],
          description: 'What the device reported: true or false, or the level in percent; null if nothing.',
        },
        state: { type: ['string', 'null'], description: 'The reported state in words.' },
      },
      required: [
        'device',
        'location',
        'nodeId',
        'endpoint',
        'action',
        'level',
        'confirmed',
        'reported',
        'state',
      ],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },

  async run(args, { network, confirmTimeoutMs, signal }) {
    const mistake = levelMistake(args)
    if (mistake) return refuse(mistake)
    const readiness = await network.ready()
    if (!readiness.ready)
      return refuse(`${brokerUnreachable(network.brokerUrl, readiness.cause)} Nothing was sent.`)
    const target = pickTarget(network, args)
    if (!target.ok) return refuse(target.reason)
    const order = makeOrder(args, target.actuator)
    const outcome = await network.send({ ...target, ...order, timeoutMs: confirmTimeoutMs, signal })
    if (outcome.kind === 'not sent') return refuse(`Nothing was sent to ${target.name}: ${outcome.cause}.`)
    return answer(tell(target, order, outcome, confirmTimeoutMs), toJson(target, args, outcome))
  },
}

function levelMistake({ action, level }: Arguments): string | undefined {
  if (action === 'dim' && level === undefined) return 'dim needs a level from 0 to 100.'
  if (action !== 'dim' && level !== undefined) return `A level goes with the action dim, not with ${action}.`
  return undefined
}

function pickTarget(network: ZwaveNetwork, { deviceName, action }: Arguments): Target {
  const picked = pickDevice(network.devices(), String(deviceName))
  if (!picked.ok) return picked
  const { device, endpoint } = picked
  const actuators = actuatorsOf(device).filter(item => endpoint === undefined || item.endpoint === endpoint)
  const actuator = actuators.find(item => item.endpoint === 0) ?? actuators[0]
  const reason = !actuator ? cannotSwitch(device) : unreachable(network, device)
  if (!actuator || reason) return { ok: false, reason: reason ?? cannotSwitch(device) }
  if (actuators.length > 1 && actuator.endpoint !== 0)
    return { ok: false, reason: severalEndpoints(device, actuators) }
  if (action === 'dim' && !actuator.dims) {
    return { ok: false, reason: `${fullName(device)} is a switch and cannot dim; it can only be on or off.` }
  }
  const name = endpoint === undefined ? fullName(device) : `${fullName(device)} endpoint ${endpoint}`
  return { ok: true, device, actuator, name }
}

function cannotSwitch(device: Device): string {
  return `${fullName(device)} is a sensor or has nothing to switch, so it cannot be controlled.`
}

function severalEndpoints(device: Device, actuators: readonly Actuator[]): string {
  const names = actuators.map(({ endpoint }) => `${device.name} endpoint ${endpoint}`)
  return `${fullName(device)} has several switches: ${listWords(names)}. Say which one.`
}

/** Why a command could only be lost, or be done much later. */
function unreachable({ gateway }: ZwaveNetwork, device: Device): string | undefined {
  if (gateway.online === false) return 'The Z-Wave gateway is offline, so nothing was sent.'
  if (gateway.driverReady === false)
    return 'The Z-Wave driver of the gateway is not ready, so nothing was sent.'
  if (device.status === 'Dead')
    return `${fullName(device)} is dead: it does not answer any more. Nothing was sent.`
  if (device.status === 'Asleep') {
    return `${fullName(device)} is asleep and would act only when it wakes up. Nothing was sent.`
  }
  return undefined
}

function makeOrder({ action, level }: Arguments, { dims }: Actuator): Order {
  if (action === 'dim') {
    const wanted = toZwaveLevel(Number(level))
    return { action, value: wanted, accepts: value => value === wanted }
  }
  const on = action === 'on'
  return {
    action: on ? 'on' : 'off',
    value: dims ? (on ? RESTORE_LEVEL : 0) : on,
    accepts: value => Boolean(value) === on,
  }
}

function tell(
  target: Target & { ok: true },
  { action }: Order,
  outcome: CommandOutcome,
  timeoutMs: number,
): string {
  const { name, actuator } = target
  const said =
    'reported' in outcome && outcome.reported !== undefined
      ? sayState({ ...actuator.state, value: outcome.reported })
      : undefined
  if (outcome.kind === 'confirmed') return `${name} is ${said}.`
  const sent = `The command ${action} was sent to ${name}`
  const reported = said ? ` It reported that it is ${said}.` : ''
  if (outcome.kind === 'lost')
    return `${sent}, but the connection to the broker was lost before it confirmed.${reported}`
  if (outcome.kind === 'cancelled')
    return `${sent}, but the call was cancelled before it confirmed.${reported}`
  return `${sent}, but not confirmed within ${timeoutMs / 1000} seconds.${reported}`
}

function toJson(
  { device, actuator }: Target & { ok: true },
  args: Arguments,
  outcome: CommandOutcome,
): Record<string, unknown> {
  const reported = 'reported' in outcome ? outcome.reported : undefined
  return {
    device: device.name,
    location: device.location ?? null,
    nodeId: device.nodeId ?? null,
    endpoint: actuator.endpoint,
    action: args.action,
    level: args.level ?? null,
    confirmed: outcome.kind === 'confirmed',
    reported: (typeof reported === 'number' && actuator.dims ? toPercent(reported) : reported) ?? null,
    state: reported === undefined ? null : sayState({ ...actuator.state, value: reported }),
  }
}
