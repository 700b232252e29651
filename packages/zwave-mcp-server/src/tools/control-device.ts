import { type Actuator, actuatorsOf, type Device, fullName, kindOf } from '../zwave/device.ts'
import { MAX_ZWAVE_LEVEL, RESTORE_LEVEL, toZwaveLevel } from '../zwave/levels.ts'
import { sayState, shownState } from '../zwave/readings.ts'
import type { Scene } from '../zwave/scenes.ts'
import { sceneCalled, startScene } from './activate-scene.ts'
import {
  type Commandable,
  carryOut,
  deviceFields,
  deviceToCommand,
  type Order,
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
  takes,
  type ZwaveTool,
} from './tool.ts'

/** An order without the value it is sent to and the phrasing of its report. */
type Wish = Pick<Order, 'command' | 'value' | 'accepts'>

/** The device name argument shared by the tools that command a device. */
export const DEVICE_NAME = {
  type: 'string',
  minLength: 1,
  description:
    'The name of the device, e.g. "Living Room Light"; not case-sensitive. If several devices ' +
    'share a name, put the location before it: "kitchen light".',
} as const

export const REPORT_FIELDS = {
  confirmed: { ...FIELDS.boolean, description: 'Whether the device itself reported the new state.' },
  reported: {
    type: ['boolean', 'number', 'string', 'null'],
    description: 'What the device reported: true or false, or the level in percent; null if nothing.',
  },
  state: { ...FIELDS.textOrNull, description: 'The reported state as text.' },
} as const

/** `control_zwave_device`: switches, dims or moves a device and waits for its report. */
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
    inputSchema: takes(
      {
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
            'Brightness or position in percent, 0 to 100. Required with the action dim, not allowed otherwise.',
        },
      },
      ['deviceName', 'action'],
    ),
    outputSchema: fields({
      ...FIELDS.device,
      endpoint: FIELDS.integer,
      action: { type: 'string', enum: ['on', 'off', 'dim'] },
      level: { ...FIELDS.numberOrNull, description: 'The requested level in percent.' },
      ...REPORT_FIELDS,
    }),
    annotations: SETS,
  },

  async run(args, context) {
    const mistake = levelMistake(args)
    if (mistake) return refuse(mistake)
    const { action, level = null } = args
    const said = String(args.deviceName)
    const picked = await deviceToCommand(context, said)
    if (typeof picked === 'string') {
      const scene = action === 'on' ? sceneCalled(context.network, said) : undefined
      return scene ? turnOn(scene, context) : refuse(picked)
    }
    const actuator = pickActuator(context, picked, String(action))
    if (typeof actuator === 'string') return refuse(actuator)
    return control(context, { picked, actuator, wish: makeWish(args, actuator), asked: { action, level } })
  },
}

export interface Control {
  readonly picked: Commandable
  readonly actuator: Actuator
  readonly wish: Wish
  /** Copied into the answer unchanged. */
  readonly asked: Record<string, unknown>
}

/** Sends a command to an actuator and answers with what the device reported. */
export async function control(context: ToolContext, { picked, actuator, wish, asked }: Control) {
  const { kind, endpoint, state, target } = actuator
  const carried = await carryOut(context, picked, {
    ...wish,
    state,
    target,
    say: reported => sayState(kind, reported),
  })
  if ('failure' in carried) return refuse(carried.failure)
  const { reported, said = null, missed } = carried
  return answer(missed ?? `${picked.name} is ${said}.`, {
    ...deviceFields(picked.device),
    endpoint,
    ...asked,
    confirmed: !missed,
    reported: shownState(kind, reported),
    state: said,
  })
}

/** "Turn on movie time": people do not distinguish scenes from devices. */
async function turnOn(scene: Scene, context: ToolContext) {
  const problem = await startScene(scene, context)
  if (problem) return refuse(problem)
  const nothing = { location: null, nodeId: null, level: null, reported: null }
  return answer(`The scene ${scene.name} is activated.`, {
    ...nothing,
    device: scene.name,
    endpoint: 0,
    action: 'on',
    confirmed: false,
    state: 'activated',
  })
}

function levelMistake({ action, level }: Arguments): string | undefined {
  if (action === 'dim' && level === undefined) return 'dim needs a level from 0 to 100.'
  if (action !== 'dim' && level !== undefined)
    return `A level is only valid with the action dim, not with ${action}.`
  return undefined
}

function pickActuator(
  { network }: ToolContext,
  { device, endpoint }: Commandable,
  action: string,
): Actuator | string {
  const actuators = actuatorsOf(device).filter(item => endpoint === undefined || item.endpoint === endpoint)
  const actuator = actuators.find(item => item.endpoint === 0) ?? actuators[0]
  if (!actuator || kindOf(device) === 'thermostat') return cannotSwitch(device)
  const reason = whyUnreachable(network, device) ?? cannotDo(device, actuator, action)
  if (reason) return reason
  return actuators.length > 1 && actuator.endpoint !== 0 ? severalEndpoints(device, actuators) : actuator
}

function cannotSwitch(device: Device): string {
  if (kindOf(device) === 'thermostat')
    return `${fullName(device)} is a thermostat: use set_thermostat to change its temperature or mode.`
  return `${fullName(device)} is a sensor or has nothing to switch, so it cannot be controlled.`
}

function cannotDo(device: Device, { kind }: Actuator, action: string): string | undefined {
  if (kind === 'switch' && action === 'dim')
    return `${fullName(device)} is a switch and cannot dim; it can only be on or off.`
  // On and off are ambiguous for a lock, and "everything off" must never open a door.
  if (kind === 'lock')
    return `${fullName(device)} is a lock: use control_lock to lock or unlock it. Nothing was sent.`
  return undefined
}

function severalEndpoints(device: Device, actuators: readonly Actuator[]): string {
  const names = actuators.map(({ endpoint }) => `${device.name} endpoint ${endpoint}`)
  return `${fullName(device)} has several switches: ${listWords(names)}. Say which one.`
}

function makeWish({ action, level }: Arguments, { kind }: Actuator): Wish {
  if (action === 'dim' || kind === 'cover') return levelWish(action, level)
  const on = action === 'on'
  return {
    command: on ? 'on' : 'off',
    value: kind === 'dimmer' ? (on ? RESTORE_LEVEL : 0) : on,
    accepts: value => Boolean(value) === on,
  }
}

function levelWish(action: unknown, level: unknown): Wish {
  const wanted = action === 'dim' ? toZwaveLevel(Number(level)) : action === 'on' ? MAX_ZWAVE_LEVEL : 0
  return { command: String(action), value: wanted, accepts: value => value === wanted }
}
