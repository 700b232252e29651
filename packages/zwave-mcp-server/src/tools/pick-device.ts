import { type Device, fullName } from '../zwave/device.ts'
import { type Found, findDevice } from '../zwave/find-device.ts'
import { listWords } from './tool.ts'

export type Picked = ({ readonly ok: true } & Found) | { readonly ok: false; readonly reason: string }

const MAX_NAMES = 20

/** The device that a name means, or a sentence that helps to name it better. */
export function pickDevice(devices: readonly Device[], said: string): Picked {
  const result = findDevice(devices, said)
  if (result.kind === 'found') return { ...result, ok: true }
  if (result.kind === 'ambiguous') {
    return {
      ok: false,
      reason: `Several devices are called "${said}": ${names(result.candidates)}. Say which one.`,
    }
  }
  const reason = `There is no device called "${said}".`
  if (result.suggestions.length > 0) {
    return { ok: false, reason: `${reason} Did you mean ${names(result.suggestions, 'or')}?` }
  }
  return {
    ok: false,
    reason:
      devices.length > 0 ? `${reason} The devices are ${names(devices)}.` : `${reason} No devices are known.`,
  }
}

function names(devices: readonly Device[], joint?: string): string {
  const shown = devices.slice(0, MAX_NAMES).map(fullName)
  const more = devices.length - shown.length
  return listWords(more > 0 ? [...shown, `${more} more`] : shown, joint)
}
