import type { Device, DeviceValue } from './device.ts'

/** Thermostat modes by their everyday names, with their Z-Wave numbers. */
export const MODES: Readonly<Record<string, number>> = {
  off: 0,
  heat: 1,
  cool: 2,
  auto: 3,
  fan: 6,
  dry: 8,
  'energy heat': 11,
  'energy cool': 12,
  away: 13,
}

const OTHER_MODES: Readonly<Record<number, string>> = {
  4: 'auxiliary heat',
  5: 'resume',
  7: 'furnace',
  9: 'moist',
  10: 'auto changeover',
  15: 'full power',
  31: 'manufacturer specific',
}

const SETPOINTS: Readonly<Record<number, string>> = {
  1: 'heating',
  2: 'cooling',
  7: 'furnace',
  8: 'dry air',
  9: 'moist air',
  10: 'auto changeover',
  11: 'energy save heating',
  12: 'energy save cooling',
  13: 'away heating',
  14: 'away cooling',
  15: 'full power',
}

const ACTIVITIES = ['idle', 'heating', 'cooling', 'fan only', 'about to heat', 'about to cool', 'ventilating']

/** A sensible range for a home, if the thermostat does not report its own. */
const USUAL_RANGE = { celsius: [5, 35], fahrenheit: [40, 95] } as const

export function sayMode(mode: number): string {
  const [name] = Object.entries(MODES).find(([, number]) => number === mode) ?? []
  return name ?? OTHER_MODES[mode] ?? `mode ${mode}`
}

export function sayActivity(state: number): string {
  return ACTIVITIES[state] ?? `state ${state}`
}

export function setpointName({ key = '' }: DeviceValue): string {
  return `${SETPOINTS[Number(key)] ?? `type ${key}`} setpoint`
}

export function setpointsOf(device: Device, endpoint?: number): DeviceValue[] {
  return valuesOf(device, 'thermostat_setpoint/setpoint', endpoint)
}

export function modeOf(device: Device, endpoint?: number): DeviceValue | undefined {
  return valuesOf(device, 'thermostat_mode/mode', endpoint)[0]
}

/** The setpoint that a temperature applies to in a mode; undefined if ambiguous. */
export function meantSetpoint(setpoints: readonly DeviceValue[], mode: unknown): DeviceValue | undefined {
  // A mode and its setpoint share a number, except auto, which uses that of auto changeover.
  const inMode = setpoints.find(({ key }) => key === String(mode === MODES.auto ? 10 : mode))
  return inMode ?? (setpoints.length === 1 ? setpoints[0] : undefined)
}

/** The lowest and highest temperature that a setpoint accepts, in its own unit. */
export function rangeOf({ unit = '°C', min, max }: DeviceValue): { min: number; max: number; unit: string } {
  const [low, high] = /F/.test(unit) ? USUAL_RANGE.fahrenheit : USUAL_RANGE.celsius
  return { min: min ?? low, max: max ?? high, unit }
}

function valuesOf({ values }: Device, what: string, endpoint: number | undefined): DeviceValue[] {
  const matching = values.filter(value => `${value.commandClass}/${value.property}` === what)
  return matching.filter(value => endpoint === undefined || value.endpoint === endpoint)
}
