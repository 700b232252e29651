import { type Device, type DeviceKind, fullName, kindOf } from '../zwave/device.ts'
import { type Found, nameKey } from '../zwave/find-device.ts'
import type { CommandOutcome, ZwaveNetwork } from '../zwave/zwave-network.ts'
import { pickDevice } from './pick-device.ts'
import { brokerUnreachable, type ToolContext, UNKNOWN_GATEWAY } from './tool.ts'

export type Commandable =
  | ({ readonly ok: true; readonly name: string } & Found)
  | { readonly ok: false; readonly reason: string }

/** The device that a command is meant for; a name that is not known may be new, so the gateway is asked once more. */
export async function deviceToCommand({ network }: ToolContext, said: string): Promise<Commandable> {
  const readiness = await network.ready()
  if (!readiness.ready)
    return { ok: false, reason: `${brokerUnreachable(network.brokerUrl, readiness.cause)} Nothing was sent.` }
  const first = pickDevice(network.devices(), said)
  const picked = first.ok || !(await network.refresh()) ? first : pickDevice(network.devices(), said)
  if (!picked.ok) return { ok: false, reason: withHint(network, picked.reason) }
  const { device, endpoint } = picked
  return {
    ...picked,
    name: endpoint === undefined ? fullName(device) : `${fullName(device)} endpoint ${endpoint}`,
  }
}

/** As above, also by its kind: "back door" for the Back Door Lock, "thermostat" for the only thermostat. */
export async function deviceOfKind(
  context: ToolContext,
  said: string,
  kind: DeviceKind,
): Promise<Commandable> {
  const exact = await deviceToCommand(context, said)
  const picked = exact.ok ? exact : await deviceToCommand(context, `${said} ${kind}`)
  if (picked.ok) return picked
  const [only, ...others] = context.network.devices().filter(device => kindOf(device) === kind)
  const isMeant = nameKey(said).replace(/^(the|my) /, '') === kind && others.length === 0
  return only && isMeant ? { ok: true, device: only, name: fullName(only) } : exact
}

function withHint({ gateway }: ZwaveNetwork, reason: string): string {
  return gateway.name === null ? `${reason} ${UNKNOWN_GATEWAY}` : reason
}

/** Why a command could only be lost, or be done much later. */
export function whyUnreachable(network: ZwaveNetwork, device: Device): string | undefined {
  const whyNot = whyNoCommands(network)
  if (whyNot) return `${whyNot}, so nothing was sent.`
  if (device.status === 'Dead') return `${fullName(device)} is dead: it no longer responds. Nothing was sent.`
  if (device.status === 'Asleep')
    return `${fullName(device)} is asleep and would act only when it wakes up. Nothing was sent.`
  return undefined
}

/** Why the gateway cannot pass on any command. */
export function whyNoCommands({ gateway }: ZwaveNetwork): string | undefined {
  if (gateway.online === false) return 'The Z-Wave gateway is offline'
  if (gateway.driverReady === false) return 'The Z-Wave driver of the gateway is not ready'
  return undefined
}

export interface Told {
  readonly name: string
  /** What was sent, e.g. "on". */
  readonly command: string
  readonly outcome: CommandOutcome
  readonly timeoutMs: number
  /** The last report in words. */
  readonly said: string | undefined
}

/** What became of a command that was sent and not confirmed. */
export function tellUnconfirmed({ name, command, outcome, timeoutMs, said }: Told): string {
  const sent = `The command ${command} was sent to ${name}`
  const reported = said ? ` It reported that it is ${said}.` : ''
  if (outcome.kind === 'lost')
    return `${sent}, but the connection to the broker was lost before it confirmed.${reported}`
  if (outcome.kind === 'cancelled')
    return `${sent}, but the call was cancelled before it confirmed.${reported}`
  return `${sent}, but not confirmed within ${timeoutMs / 1000} seconds.${reported}`
}

/** Why a command did not go out; undefined if it did. */
export function tellFailed(name: string, outcome: CommandOutcome): string | undefined {
  if (outcome.kind === 'not sent') return `Nothing was sent to ${name}: ${outcome.cause}.`
  if (outcome.kind === 'refused')
    return `The gateway did not carry out the command for ${name}: ${outcome.cause}.`
  return undefined
}

/** Which device an answer is about, as data. */
export function deviceFields({ name, location, nodeId }: Device): Record<string, unknown> {
  return { device: name, location: location ?? null, nodeId: nodeId ?? null }
}
