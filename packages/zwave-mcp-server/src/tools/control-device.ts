import { type Actuator, actuatorsOf, type Device, fullName, kindOf } from '../zwave/device.ts'
import { MAX_ZWAVE_LEVEL, RESTORE_LEVEL, toZwaveLevel } from '../zwave/levels.ts'
import type { Primitive } from '../zwave/payload.ts'
import { sayState, shownState } from '../zwave/readings.ts'
import type { Scene } from '../zwave/scenes.ts'
import type { CommandOutcome } from '../zwave/zwave-network.ts'
import { sceneCalled, startScene } from './activate-scene.ts'
import {
  type Commandable,
  deviceFields,
  deviceToCommand,
  tellFailed,
  tellUnconfirmed,
  whyUnreachable,
} from './command-device.ts'
import {
  type Arguments,
  answer,
  FIELDS,
  fields,
  listWords,
  refuse,
  SETS,
  type ToolContext,
  type ZwaveTool,
} from './tool.ts'

/** What is to be sent, and which report means that it was done. */
export interface Order {
  /** As it is said: "on", "lock". */
  readonly command: string
  readonly value: Primitive
  readonly accepts: (value: Primitive) => boolean
}

type Target =
  | { readonly ok: true; readonly device: Device; readonly actuator: Actuator; readonly name: string }
  | { readonly ok: false; readonly reason: string }

/** The name argument of every tool that commands a device. */
export const DEVICE_NAME = {
  type: 'string',
  minLength: 1,
  description:
    'The name of the device, e.g. "Living Room Light"; upper and lower case do not matter. If several devices ' +
    'share a name, put the location before it: "kitchen light".',
} as const

export const REPORT_FIELDS = {
  confirmed: { ...FIELDS.boolean, description: 'Whether the device itself reported that it was done.' },
  reported: {
    type: ['boolean', 'number', 'string', 'null'],
    description: 'What the device reported: true or false, or the level in percent; null if nothing.',
  },
  state: { ...FIELDS.textOrNull, description: 'The reported state in words.' },
} as const

/** `control_zwave_device`: switches, dims or moves a device and waits for its own report. */
export const controlDevice: ZwaveTool = {
  definition: {
    name: 'control_zwave_device',
    title: 'Control a Z-Wave device',
    description:
      'Switches a Z-Wave switch or dimmer on or off, or dims a dimmer to a level. Blinds, shades and other window ' +
      'coverings: on opens, off closes, dim moves to a position (0 closed, 100 open). It waits for the device to report its ' +
      'new state and says what it reported; if the device does not report in time, it says that the command was sent and ' +
      'not confirmed: then do not claim that it worked. Sensors cannot be controlled; use control_lock for locks, ' +
      'set_thermostat for thermostats and activate_scene for scenes.',
    inputSchema: {
      type: 'object',
      properties: {
        deviceName: DEVICE_NAME,
        action: {
          type: 'string',
          enum: ['on', 'off', 'dim'],
          description:
            'on: switch on (a dimmer goes to its last level) or open. off: switch off or close. ' +
            'dim: set the level of a dimmer or the position of a covering.',
        },
        level: {
          type: 'number',
          minimum: 0,
          maximum: 100,
          description:
            'Brightness or position in percent, 0 to 100. Only with the action dim, and needed there.',
        },
      },
      required: ['deviceName', 'action'],
      additionalProperties: false,
    },
    outputSchema: fields({
      ...FIELDS.device,
      endpoint: FIELDS.integer,
      action: { type: 'string', enum: ['on', 'off', 'dim'] },
      level: { ...FIELDS.numberOrNull, description: 'The level that was asked for, in percent.' },
      ...REPORT_FIELDS,
    }),
    annotations: SETS,
  },

  async run(args, context) {
    const mistake = levelMistake(args)
    if (mistake) return refuse(mistake)
    const { action, level = null } = args
    const picked = await deviceToCommand(context, String(args.deviceName))
    const scene =
      picked.ok || action !== 'on' ? undefined : sceneCalled(context.network, String(args.deviceName))
    if (scene) return turnOn(scene, context)
    const target = pickTarget(context, picked, args)
    if (!target.ok) return refuse(target.reason)
    return carryOut(context, target, { order: makeOrder(args, target.actuator), asked: { action, level } })
  },
}

/** Sends an order and answers with what the device reported. `asked` goes into the answer as it is. */
export async function carryOut(
  { network, confirmTimeoutMs, signal }: ToolContext,
  { device, actuator, name }: Target & { ok: true },
  { order, asked }: { order: Order; asked: Record<string, unknown> },
) {
  const { kind, endpoint, state, target } = actuator
  const { command, value, accepts } = order
  const outcome = await network.send({
    device,
    state,
    target,
    value,
    accepts,
    timeoutMs: confirmTimeoutMs,
    signal,
  })
  const failure = tellFailed(name, outcome)
  if (failure) return refuse(failure)
  const reported = reportOf(outcome)
  const said = reported === undefined ? undefined : sayState(kind, reported)
  const confirmed = outcome.kind === 'confirmed'
  const text = confirmed
    ? `${name} is ${said}.`
    : tellUnconfirmed({ name, command, outcome, timeoutMs: confirmTimeoutMs, said })
  return answer(text, {
    ...deviceFields(device),
    endpoint,
    ...asked,
    confirmed,
    reported: shownState(kind, reported),
    state: said ?? null,
  })
}

/** "Turn on movie time": people do not tell scenes from devices. */
async function turnOn(scene: Scene, context: ToolContext) {
  const started = await startScene(scene, context)
  if (!started.ok) return refuse(started.text)
  const nothing = { location: null, nodeId: null, level: null, reported: null }
  return answer(started.text, {
    ...nothing,
    device: scene.name,
    endpoint: 0,
    action: 'on',
    confirmed: false,
    state: 'activated',
  })
}

function reportOf(outcome: CommandOutcome): Primitive | undefined {
  return 'reported' in outcome ? outcome.reported : undefined
}

function levelMistake({ action, level }: Arguments): string | undefined {
  if (action === 'dim' && level === undefined) return 'dim needs a level from 0 to 100.'
  if (action !== 'dim' && level !== undefined) return `A level goes with the action dim, not with ${action}.`
  return undefined
}

function pickTarget({ network }: ToolContext, picked: Commandable, { action }: Arguments): Target {
  if (!picked.ok) return picked
  const { device, endpoint, name } = picked
  const actuators = actuatorsOf(device).filter(item => endpoint === undefined || item.endpoint === endpoint)
  const actuator = actuators.find(item => item.endpoint === 0) ?? actuators[0]
  if (!actuator || kindOf(device) === 'thermostat') return { ok: false, reason: cannotSwitch(device) }
  const reason = whyUnreachable(network, device) ?? cannotDo(device, actuator, String(action))
  if (reason) return { ok: false, reason }
  if (actuators.length > 1 && actuator.endpoint !== 0)
    return { ok: false, reason: severalEndpoints(device, actuators) }
  return { ok: true, device, actuator, name }
}

function cannotSwitch(device: Device): string {
  if (kindOf(device) === 'thermostat')
    return `${fullName(device)} is a thermostat: use set_thermostat to change its temperature or mode.`
  return `${fullName(device)} is a sensor or has nothing to switch, so it cannot be controlled.`
}

function cannotDo(device: Device, { kind }: Actuator, action: string): string | undefined {
  if (kind === 'switch' && action === 'dim')
    return `${fullName(device)} is a switch and cannot dim; it can only be on or off.`
  // On and off could mean either, and whoever says "everything off" must not open a door.
  if (kind === 'lock')
    return `${fullName(device)} is a lock: use control_lock to lock or unlock it. Nothing was sent.`
  return undefined
}

function severalEndpoints(device: Device, actuators: readonly Actuator[]): string {
  const names = actuators.map(({ endpoint }) => `${device.name} endpoint ${endpoint}`)
  return `${fullName(device)} has several switches: ${listWords(names)}. Say which one.`
}

function makeOrder({ action, level }: Arguments, { kind }: Actuator): Order {
  if (action === 'dim' || kind === 'cover') return levelOrder(action, level)
  const on = action === 'on'
  return {
    command: on ? 'on' : 'off',
    value: kind === 'dimmer' ? (on ? RESTORE_LEVEL : 0) : on,
    accepts: value => Boolean(value) === on,
  }
}

function levelOrder(action: unknown, level: unknown): Order {
  const wanted = action === 'dim' ? toZwaveLevel(Number(level)) : action === 'on' ? MAX_ZWAVE_LEVEL : 0
  return { command: String(action), value: wanted, accepts: value => value === wanted }
}
