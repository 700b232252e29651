import type { ToolResult } from '../../../call/tool-result.ts'

/** One value of a device, as its tool reports it. */
interface Reported {
  name: string
  text: string
  value: unknown
  unit: string | null
}

/** A device's report of its state. */
export interface DeviceReport {
  device: string
  readings: readonly Reported[]
  /** Whether it is the current state. */
  isLive: boolean
  /** The tool's own wording. */
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

export function oppositeOf(state: string): string {
  return OPPOSITES[state] ?? `not ${state}`
}

/** Whether a reported state is the one asked about; `undefined` if it is unrelated. */
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

/** The parts of a state: "air temperature: 21.5 °C, humidity: 45 %". */
export function statesIn(text: string): { name: string | undefined; text: string }[] {
  return text.split(', ').map(part => {
    const at = part.indexOf(': ')
    return at < 0 ? { name: undefined, text: part } : { name: part.slice(0, at), text: part.slice(at + 2) }
  })
}
