import { type Device, fullName } from '../zwave/device.ts'
import { type Found, findByPart, findDevice } from '../zwave/find-device.ts'
import type { ZwaveNetwork } from '../zwave/zwave-network.ts'
import { listWords } from './tool.ts'

const MAX_NAMES = 20

export interface PickOptions {
  /** A part of one name is enough: right for reading, where a wrong guess does no harm. */
  readonly partIsEnough?: boolean
}

/** As `pickDevice`; a name that is not known may be new, so the gateways are asked once more. */
export async function pickInNetwork(
  network: ZwaveNetwork,
  said: string,
  options?: PickOptions,
): Promise<Found | string> {
  const first = pickDevice(network.devices(), said, options)
  const isNew = typeof first === 'string' && (await network.refresh(0))
  return isNew ? pickDevice(network.devices(), said, options) : first
}

/** The device that a name means, or a sentence that helps to name it better. */
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
