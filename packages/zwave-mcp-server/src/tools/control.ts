import type { Actuator, Device } from '../zwave/device.ts'
import { actuatorsOf, fullName, kindOf, LEVELS, sayState, shownState } from '../zwave/device.ts'
import type { Command, ZwaveNetwork } from '../zwave/network.ts'
import type { ActuatorKind, Primitive, Scene } from '../zwave/values.ts'
import { deviceToCommand, type Found, nameKey, whyNoCommands } from './find-device.ts'
import type { Arguments, RunTool, ToolContext } from './tool.ts'
import { answer, deviceFields, listWords, refuse, UNKNOWN_GATEWAY } from './tool.ts'

/** What to send, and which report confirms it. */
export interface Order extends Pick<Command, 'state' | 'target' | 'value' | 'accepts'> {
  /** The command as spoken: "on", "lock". */
  readonly command: string
  /** Phrases a report, to follow "it is". */
  readonly say: (reported: Primitive) => string
}

/** The outcome of an order. `missed` says why the device did not confirm it. */
type Outcome =
  | { readonly failure: string }
  | { readonly reported?: Primitive; readonly said?: string; readonly missed?: string }

const MAX_NAMES = 20

/** `control_zwave_device`: switches, dims or moves a device and waits for its report. */
export const controlDevice: RunTool = async (args, context) => {
  const { action, level = null, deviceName } = args
  if (action === 'dim' && level === null) return refuse('dim needs a level from 0 to 100.')
  if (action !== 'dim' && level !== null)
    return refuse(`A level is only valid with the action dim, not with ${action}.`)
  const found = await deviceToCommand(context.network, String(deviceName))
  if (typeof found === 'string') return refuse(found)
  const actuator = pickActuator(found, String(action))
  if (typeof actuator === 'string') return refuse(actuator)
  return control(context, found, actuator, { action, level })
}

/** `control_lock`: locks or unlocks a door. A separate tool, so that a client can ask before opening a door. */
export const controlLock: RunTool = async ({ deviceName, action }, context) => {
  const found = await deviceToCommand(context.network, String(deviceName), 'lock')
  if (typeof found === 'string') return refuse(found)
  const { device, endpoint } = found
  const locks = actuatorsOf(device).filter(({ kind }) => kind === 'lock')
  const actuator = locks.find(lock => endpoint === undefined || lock.endpoint === endpoint)
  if (!actuator) return refuse(`${fullName(device)} is not a lock.`)
  return control(context, found, actuator, { action })
}

/** `activate_scene`: has the gateway apply one of its scenes. */
export const activateScene: RunTool = async ({ sceneName }, { network, confirmTimeoutMs }) => {
  const said = String(sceneName)
  const problem = await whyNoCommands(network)
  if (problem) return refuse(problem)
  if (!sceneCalled(network, said)) await network.refresh(0)
  const scene = sceneCalled(network, said)
  if (!scene) return refuse(noSuchScene(network, said))
  const { id: sceneId, name } = scene
  const outcome = await network.activate(scene, confirmTimeoutMs)
  if (outcome.kind !== 'done')
    return refuse(`The scene ${name} was not confirmed as activated: ${outcome.cause}.`)
  return answer(`The scene ${name} is activated.`, { scene: name, sceneId, activated: true })
}

/** Sends a command to an actuator and answers with what was asked and what the device reported. */
async function control(context: ToolContext, found: Found, actuator: Actuator, asked: Arguments) {
  const { kind, endpoint, state, target } = actuator
  const say = (reported: Primitive) => sayState(kind, reported)
  const order = { ...wishOf(asked, kind), command: String(asked.action), state, target, say }
  const outcome = await sendOrder(context, found, order)
  if ('failure' in outcome) return refuse(outcome.failure)
  const { reported, said = null, missed } = outcome
  return answer(missed ?? `${found.name} is ${said}.`, {
    ...deviceFields(found.device),
    endpoint,
    ...asked,
    confirmed: !missed,
    reported: shownState(kind, reported),
    state: said,
  })
}

/** Sends an order, unless the device cannot be reached, and waits for its report. */
export async function sendOrder(
  { network, confirmTimeoutMs: timeoutMs, signal }: ToolContext,
  { device, name }: Found,
  { command, say, ...order }: Order,
): Promise<Outcome> {
  const unreachable = whyUnreachable(device)
  if (unreachable) return { failure: unreachable }
  const outcome = await network.send({ ...order, device, timeoutMs, signal })
  if ('cause' in outcome) {
    const sent =
      outcome.kind === 'refused' ? 'The gateway did not carry out the command for' : 'Nothing was sent to'
    return { failure: `${sent} ${name}: ${outcome.cause}.` }
  }
  const { kind, reported } = outcome
  const seen = reported === undefined ? {} : { reported, said: say(reported) }
  if (kind === 'confirmed') return seen
  const why = {
    lost: 'the connection to the broker was lost before it confirmed.',
    cancelled: 'the call was cancelled before it confirmed.',
    timeout: `not confirmed within ${timeoutMs / 1000} seconds.`,
  }[kind]
  const report = seen.said ? ` It reported that it is ${seen.said}.` : ''
  return { ...seen, missed: `The command ${command} was sent to ${name}, but ${why}${report}` }
}

/** Why a command to this device would be lost, or carried out only much later. */
function whyUnreachable(device: Device): string | undefined {
  if (device.status === 'Dead') return `${fullName(device)} is dead: it no longer responds. Nothing was sent.`
  if (device.status === 'Asleep')
    return `${fullName(device)} is asleep and would act only when it wakes up. Nothing was sent.`
  return undefined
}

/** What a command is for, or why there is nothing it could be for. */
function pickActuator({ device, endpoint }: Found, action: string): Actuator | string {
  const actuators = actuatorsOf(device).filter(item => endpoint === undefined || item.endpoint === endpoint)
  const actuator = actuators.find(item => item.endpoint === 0) ?? actuators[0]
  const name = fullName(device)
  if (kindOf(device) === 'thermostat')
    return `${name} is a thermostat: use set_thermostat to change its temperature or mode.`
  if (!actuator) return `${name} is a sensor or has nothing to switch, so it cannot be controlled.`
  if (actuator.kind === 'switch' && action === 'dim')
    return `${name} is a switch and cannot dim; it can only be on or off.`
  // On and off are ambiguous for a lock, and "everything off" must never open a door.
  if (actuator.kind === 'lock')
    return `${name} is a lock: use control_lock to lock or unlock it. Nothing was sent.`
  if (actuators.length === 1 || actuator.endpoint === 0) return actuator
  const endpoints = actuators.map(item => `${device.name} endpoint ${item.endpoint}`)
  return `${name} has several switches: ${listWords(endpoints)}. Say which one.`
}

function wishOf({ action, level }: Arguments, kind: ActuatorKind): Pick<Order, 'value' | 'accepts'> {
  if (kind === 'lock') {
    const [value, wanted] = action === 'unlock' ? [LEVELS.unlocked, 'unlocked'] : [LEVELS.locked, 'locked']
    return { value, accepts: reported => sayState(kind, reported) === wanted }
  }
  const on = action === 'on'
  if (action !== 'dim' && kind !== 'cover')
    return {
      value: kind === 'dimmer' ? (on ? LEVELS.restore : 0) : on,
      accepts: value => Boolean(value) === on,
    }
  const full = on ? LEVELS.full : 0
  const wanted = action === 'dim' ? Math.min(Math.round(Number(level)), LEVELS.full) : full
  return { value: wanted, accepts: value => value === wanted }
}

/** The scene of this name, if there is exactly one: "the movie time scene" means Movie Time. */
function sceneCalled(network: ZwaveNetwork, said: string): Scene | undefined {
  const key = (name: string) => nameKey(name).replace(/ scene$/, '')
  const [scene, ...others] = (network.scenes ?? []).filter(({ name }) => key(name) === key(said))
  return others.length === 0 ? scene : undefined
}

function noSuchScene(network: ZwaveNetwork, said: string): string {
  const names = (network.scenes ?? []).map(({ name }) => name)
  const missing = `There is no scene called "${said}".`
  if (network.gateway.name === null) return `${missing} ${UNKNOWN_GATEWAY}`
  if (names.length > 0) return `${missing} The scenes are ${listWords(names.slice(0, MAX_NAMES))}.`
  if (network.scenes) return `${missing} The gateway has no scenes.`
  return `The scene "${said}" cannot be activated: the gateway does not list its scenes.`
}
