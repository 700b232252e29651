import { type Device, type DeviceKind, fullName, kindOf } from '../zwave/device.ts'
import { type Found, nameKey } from '../zwave/find-device.ts'
import type { Primitive } from '../zwave/payload.ts'
import type { Command, ZwaveNetwork } from '../zwave/zwave-network.ts'
import { pickInNetwork } from './pick-device.ts'
import { type ToolContext, whyNotReady } from './tool.ts'

export interface Commandable extends Found {
  readonly name: string
}

/** The device that a command is meant for, or the reason if it cannot be determined. */
export async function deviceToCommand({ network }: ToolContext, said: string): Promise<Commandable | string> {
  const problem = await whyNotReady(network)
  if (problem) return `${problem} Nothing was sent.`
  const picked = await pickInNetwork(network, said)
  if (typeof picked === 'string') return picked
  const { device, endpoint } = picked
  return {
    ...picked,
    name: endpoint === undefined ? fullName(device) : `${fullName(device)} endpoint ${endpoint}`,
  }
}

/** As above, but the kind may complete the name: "back door" for Back Door Lock, "thermostat" for the only one. */
export async function deviceOfKind(
  context: ToolContext,
  said: string,
  kind: DeviceKind,
): Promise<Commandable | string> {
  const exact = await deviceToCommand(context, said)
  const picked = typeof exact === 'string' ? await deviceToCommand(context, `${said} ${kind}`) : exact
  if (typeof picked !== 'string') return picked
  const [only, ...others] = context.network.devices().filter(device => kindOf(device) === kind)
  const isMeant = nameKey(said).replace(/^(the|my) /, '') === kind && others.length === 0
  return only && isMeant ? { device: only, name: fullName(only) } : exact
}

/** Why a command would be lost, or carried out only much later. */
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
  if (gateway.driverReady === false) return "The gateway's Z-Wave driver is not ready"
  return undefined
}

/** What to send, and which report confirms it. */
export interface Order extends Pick<Command, 'state' | 'target' | 'value' | 'accepts'> {
  /** The command as spoken: "on", "lock". */
  readonly command: string
  /** Phrases a report, to follow "it is". */
  readonly say: (reported: Primitive) => string
}

/** The outcome of an order. `missed` says why the device did not confirm it. */
export type Carried =
  | { readonly failure: string }
  | {
      readonly reported: Primitive | undefined
      readonly said: string | undefined
      readonly missed: string | undefined
    }

/** Sends an order and waits for the device's report. */
export async function carryOut(
  { network, confirmTimeoutMs: timeoutMs, signal }: ToolContext,
  { device, name }: Commandable,
  { command, say, ...order }: Order,
): Promise<Carried> {
  const outcome = await network.send({ ...order, device, timeoutMs, signal })
  if ('cause' in outcome) {
    const { kind, cause } = outcome
    const sent = kind === 'refused' ? 'The gateway did not carry out the command for' : 'Nothing was sent to'
    return { failure: `${sent} ${name}: ${cause}.` }
  }
  const { kind, reported } = outcome
  const said = reported === undefined ? undefined : say(reported)
  if (kind === 'confirmed') return { reported, said, missed: undefined }
  const why = {
    lost: 'the connection to the broker was lost before it confirmed.',
    cancelled: 'the call was cancelled before it confirmed.',
    timeout: `not confirmed within ${timeoutMs / 1000} seconds.`,
  }[kind]
  const report = said ? ` It reported that it is ${said}.` : ''
  return { reported, said, missed: `The command ${command} was sent to ${name}, but ${why}${report}` }
}

/** The fields that identify the device in an answer. */
export function deviceFields({ name, location, nodeId }: Device): Record<string, unknown> {
  return { device: name, location: location ?? null, nodeId: nodeId ?? null }
}
