import type { ToolResult } from '../../../call/tool-result.ts'

/** One value of a device, as its tool reports it. */
interface Reported {
  name: string
  text: string
  value: unknown
  unit: string | null
}

/** What a reading of a device says. */
export interface DeviceReport {
  device: string
  readings: readonly Reported[]
  /** Whether it is the present state. */
  isLive: boolean
  /** As the tool puts it. */
  text: string
}

/** The report in a result; `undefined` if there is none. */
export function reportIn(result: ToolResult): DeviceReport | undefined {
  if (!result.success) return undefined
  const { device, readings, live } = Object(result.result) as Record<string, unknown>
  if (typeof device !== 'string' || !Array.isArray(readings)) return undefined
  return { device, readings, isLive: live !== false, text: result.text ?? '' }
}

const OPPOSITES: Readonly<Record<string, string>> = {
  on: 'off',
  off: 'on',
  open: 'closed',
  closed: 'open',
  locked: 'unlocked',
  unlocked: 'locked',
}

/** Whether a state in words is the one that was asked about; `undefined` if it says nothing of it. */
export function isInState(text: string, state: string): boolean | undefined {
  const present = stateIn(text)
  if (present === state) return true
  return present !== undefined && OPPOSITES[state] === present ? false : undefined
}

/** "dimmed to 40 %" is on, "40 % open" is open. */
function stateIn(text: string): string | undefined {
  if (/^dimmed\b/.test(text)) return 'on'
  if (/\d % open$/.test(text)) return 'open'
  return Object.hasOwn(OPPOSITES, text) ? text : undefined
}

/** The part of a state that may have several: "air temperature: 21.5 °C, humidity: 45 %". */
export function statesIn(text: string): { name: string | undefined; text: string }[] {
  return text.split(', ').map(part => {
    const at = part.indexOf(': ')
    return at < 0 ? { name: undefined, text: part } : { name: part.slice(0, at), text: part.slice(at + 2) }
  })
}
