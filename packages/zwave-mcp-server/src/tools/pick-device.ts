import { type Device, type DeviceKind, fullName, kindOf } from '../zwave/device.ts'
import { type Found, findByPart, findDevice, nameKey, withoutArticle } from '../zwave/find-device.ts'
import type { ZwaveNetwork } from '../zwave/zwave-network.ts'
import { listWords, UNKNOWN_GATEWAY, whyNotReady } from './tool.ts'

const MAX_NAMES = 20

export interface Picked extends Found {
  readonly name: string
}

/**
 * The device that a name refers to, or a sentence that helps to name it. An unknown name may be new, so the gateways are
 * queried again. `partIsEnough`: part of a name will do, as for reading, where a wrong guess does no harm.
 */
export async function pickDevice(
  network: ZwaveNetwork,
  said: string,
  { partIsEnough = false } = {},
): Promise<Found | string> {
  const first = pick(network.devices(), said, partIsEnough)
  if (typeof first !== 'string') return first
  const again = (await network.refresh(0)) ? pick(network.devices(), said, partIsEnough) : first
  return typeof again === 'string' && network.gateway.name === null ? `${again} ${UNKNOWN_GATEWAY}` : again
}

/**
 * The device that a command is meant for, or why it is not clear. A kind may complete the name: "back door" for
 * Back Door Lock, "thermostat" for the only one.
 */
export async function deviceToCommand(
  network: ZwaveNetwork,
  said: string,
  kind?: DeviceKind,
): Promise<Picked | string> {
  const problem = await whyNotReady(network)
  if (problem) return `${problem} Nothing was sent.`
  const exact = await pickDevice(network, said)
  const completed = kind && typeof exact === 'string' ? await pickDevice(network, `${said} ${kind}`) : exact
  const picked = typeof completed === 'string' ? (onlyOf(network, said, kind) ?? exact) : completed
  if (typeof picked === 'string') return picked
  const { device, endpoint } = picked
  const name = fullName(device)
  return { ...picked, name: endpoint === undefined ? name : `${name} endpoint ${endpoint}` }
}

/** Why a command to this device would be lost, or carried out only much later. */
export function whyUnreachable(network: ZwaveNetwork, device: Device): string | undefined {
  const whyNot = whyNoCommands(network)
  if (whyNot) return `${whyNot}, so nothing was sent.`
  if (device.status === 'Dead') return `${fullName(device)} is dead: it no longer responds. Nothing was sent.`
  if (device.status === 'Asleep')
    return `${fullName(device)} is asleep and would act only when it wakes up. Nothing was sent.`
  return undefined
}

/** Why the gateway cannot pass on commands at all. */
export function whyNoCommands({ gateway }: ZwaveNetwork): string | undefined {
  if (gateway.online === false) return 'The Z-Wave gateway is offline'
  return gateway.driverReady === false ? "The gateway's Z-Wave driver is not ready" : undefined
}

function onlyOf(network: ZwaveNetwork, said: string, kind: DeviceKind | undefined): Found | undefined {
  const [device, ...others] = network.devices().filter(item => kindOf(item) === kind)
  return device && others.length === 0 && withoutArticle(nameKey(said)) === kind ? { device } : undefined
}

function pick(devices: readonly Device[], said: string, partIsEnough: boolean): Found | string {
  const result = findDevice(devices, said)
  if ('device' in result) return result
  if ('candidates' in result)
    return `Several devices are called "${said}": ${names(result.candidates)}. Say which one.`
  const part = partIsEnough ? findByPart(devices, said) : undefined
  if (part) return { device: part }
  const reason = `There is no device called "${said}".`
  if (result.suggestions.length > 0) return `${reason} Did you mean ${names(result.suggestions, 'or')}?`
  return `${reason} ${devices.length > 0 ? `The devices are ${names(devices)}.` : 'No devices are known.'}`
}

function names(devices: readonly Device[], joint?: string): string {
  const shown = devices.slice(0, MAX_NAMES).map(fullName)
  const more = devices.length - shown.length
  return listWords(more > 0 ? [...shown, `${more} more`] : shown, joint)
}
