import type { CallToolResult } from '@modelcontextprotocol/server'
import {
  type Actuator,
  actuatorsOf,
  type Device,
  fullName,
  kindOf,
  MAX_ZWAVE_LEVEL,
  RESTORE_LEVEL,
  sayState,
  shownState,
} from '../zwave/device.ts'
import { sceneCalled, startScene } from './activate-scene.ts'
import { deviceToCommand, type Picked, whyUnreachable } from './pick-device.ts'
import { type Order, sendOrder } from './send-order.ts'
import {
  type Arguments,
  answer,
  deviceFields,
  listWords,
  type RunTool,
  refuse,
  type ToolContext,
} from './tool.ts'

type Wish = Pick<Order, 'command' | 'value' | 'accepts'>

/** `control_zwave_device`: switches, dims or moves a device and waits for its report. */
export const controlDevice: RunTool = async (args, context) => {
  const { action, level = null, deviceName } = args
  if (action === 'dim' && level === null) return refuse('dim needs a level from 0 to 100.')
  if (action !== 'dim' && level !== null)
    return refuse(`A level is only valid with the action dim, not with ${action}.`)
  const picked = await deviceToCommand(context.network, String(deviceName))
  // "Turn on movie time": people do not distinguish scenes from devices.
  if (typeof picked === 'string')
    return (action === 'on' && (await turnOnScene(String(deviceName), context))) || refuse(picked)
  const actuator = pickActuator(context, picked, String(action))
  if (typeof actuator === 'string') return refuse(actuator)
  return control(context, { picked, actuator, wish: makeWish(args, actuator), asked: { action, level } })
}

export interface Control {
  readonly picked: Picked
  readonly actuator: Actuator
  readonly wish: Wish
  /** Copied into the answer unchanged. */
  readonly asked: Record<string, unknown>
}

/** Sends a command to an actuator and answers with what the device reported. */
export async function control(context: ToolContext, { picked, actuator, wish, asked }: Control) {
  const { kind, endpoint, state, target } = actuator
  const order = { ...wish, state, target, say: (reported: Order['value']) => sayState(kind, reported) }
  const outcome = await sendOrder(context, picked, order)
  if ('failure' in outcome) return refuse(outcome.failure)
  const { reported, said = null, missed } = outcome
  return answer(missed ?? `${picked.name} is ${said}.`, {
    ...deviceFields(picked.device),
    endpoint,
    ...asked,
    confirmed: !missed,
    reported: shownState(kind, reported),
    state: said,
  })
}

async function turnOnScene(said: string, context: ToolContext): Promise<CallToolResult | undefined> {
  const scene = sceneCalled(context.network, said)
  if (!scene) return undefined
  const problem = await startScene(scene, context)
  if (problem) return refuse(problem)
  const device = { device: scene.name, location: null, nodeId: null, endpoint: 0 }
  const outcome = { action: 'on', level: null, confirmed: false, reported: null, state: 'activated' }
  return answer(`The scene ${scene.name} is activated.`, { ...device, ...outcome })
}

function pickActuator(
  { network }: ToolContext,
  { device, endpoint }: Picked,
  action: string,
): Actuator | string {
  const actuators = actuatorsOf(device).filter(item => endpoint === undefined || item.endpoint === endpoint)
  const actuator = actuators.find(item => item.endpoint === 0) ?? actuators[0]
  const name = fullName(device)
  if (kindOf(device) === 'thermostat')
    return `${name} is a thermostat: use set_thermostat to change its temperature or mode.`
  if (!actuator) return `${name} is a sensor or has nothing to switch, so it cannot be controlled.`
  const reason = whyUnreachable(network, device) ?? cannotDo(device, actuator, action)
  if (reason) return reason
  if (actuators.length === 1 || actuator.endpoint === 0) return actuator
  const endpoints = actuators.map(item => `${device.name} endpoint ${item.endpoint}`)
  return `${name} has several switches: ${listWords(endpoints)}. Say which one.`
}

function cannotDo(device: Device, { kind }: Actuator, action: string): string | undefined {
  if (kind === 'switch' && action === 'dim')
    return `${fullName(device)} is a switch and cannot dim; it can only be on or off.`
  // On and off are ambiguous for a lock, and "everything off" must never open a door.
  if (kind === 'lock')
    return `${fullName(device)} is a lock: use control_lock to lock or unlock it. Nothing was sent.`
  return undefined
}

function makeWish({ action, level }: Arguments, { kind }: Actuator): Wish {
  const on = action === 'on'
  const command = String(action)
  if (action !== 'dim' && kind !== 'cover')
    return {
      command,
      value: kind === 'dimmer' ? (on ? RESTORE_LEVEL : 0) : on,
      accepts: value => Boolean(value) === on,
    }
  const full = on ? MAX_ZWAVE_LEVEL : 0
  const wanted = action === 'dim' ? Math.min(Math.round(Number(level)), MAX_ZWAVE_LEVEL) : full
  return { command, value: wanted, accepts: value => value === wanted }
}
