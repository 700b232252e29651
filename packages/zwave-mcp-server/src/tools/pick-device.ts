import { type Device, fullName } from '../zwave/device.ts'
import { type Found, findByPart, findDevice } from '../zwave/find-device.ts'
import type { ZwaveNetwork } from '../zwave/zwave-network.ts'
import { listWords, UNKNOWN_GATEWAY } from './tool.ts'

const MAX_NAMES = 20

export interface PickOptions {
  /** Part of a name is enough: fine for reading, where a wrong guess does no harm. */
  readonly partIsEnough?: boolean
}

/**
 * Like `pickDevice`, but an unknown name may be new, so the gateways are queried again first. If there are none, the
 * failure says what to do.
 */
export async function pickInNetwork(
  network: ZwaveNetwork,
  said: string,
  options?: PickOptions,
): Promise<Found | string> {
  const first = pickDevice(network.devices(), said, options)
  const isNew = typeof first === 'string' && (await network.refresh(0))
  const picked = isNew ? pickDevice(network.devices(), said, options) : first
  return typeof picked === 'string' && network.gateway.name === null ? `${picked} ${UNKNOWN_GATEWAY}` : picked
}

/** The device that a name refers to, or a sentence that helps to name it. */
function pickDevice(
  devices: readonly Device[],
  said: string,
  { partIsEnough = false }: PickOptions = {},
): Found | string {
  const result = findDevice(devices, said)
  if (result.kind === 'found') return result
  if (result.kind === 'ambiguous')
    return `Several devices are called "${said}": ${names(result.candidates)}. Say which one.`
  const part = partIsEnough ? findByPart(devices, said) : undefined
  if (part) return { device: part }
  const reason = `There is no device called "${said}".`
  if (result.suggestions.length > 0) return `${reason} Did you mean ${names(result.suggestions, 'or')}?`
  return devices.length > 0
    ? `${reason} The devices are ${names(devices)}.`
    : `${reason} No devices are known.`
}

function names(devices: readonly Device[], joint?: string): string {
  const shown = devices.slice(0, MAX_NAMES).map(fullName)
  const more = devices.length - shown.length
  return listWords(more > 0 ? [...shown, `${more} more`] : shown, joint)
}
