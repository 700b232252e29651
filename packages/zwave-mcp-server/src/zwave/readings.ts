import { actuatorsOf, type Device, type DeviceValue, isSensorValue } from './device.ts'
import { toPercent } from './levels.ts'
import type { Primitive } from './payload.ts'

/** One value of a device as it is told to people and models. */
export interface Reading {
  /** What is measured, e.g. "air temperature"; with the endpoint where a device has several. */
  readonly name: string
  readonly value: Primitive | null
  readonly unit: string | null
  /** The value in words: "21.5 °C", "open", "dimmed to 40 %", "unknown". */
  readonly text: string
  readonly endpoint: number
  readonly time: number | null
}

/** What `true` and `false` mean for a binary sensor. */
const BINARY_WORDS: ReadonlyArray<readonly [RegExp, string, string]> = [
  [/door|window/i, 'open', 'closed'],
  [/motion/i, 'motion detected', 'no motion'],
  [/water|leak/i, 'water detected', 'dry'],
  [/smoke/i, 'smoke detected', 'no smoke'],
  [/tamper/i, 'tampered with', 'not tampered with'],
  [/^any$/i, 'active', 'inactive'],
]

/** What the gateway does not say in a topic; where it lists its nodes, its own units win. */
const DEFAULT_UNITS: ReadonlyArray<readonly [RegExp, string]> = [
  [/temperature/i, '°C'],
  [/humidity|battery/i, '%'],
  [/illuminance|luminance/i, 'lx'],
  [/^power$/i, 'W'],
  [/^voltage$/i, 'V'],
  [/^current$/i, 'A'],
]

/** Electric meters name their values by a number: meter type, scale and rate type. */
const METERS: Readonly<Record<string, readonly [name: string, unit: string]>> = {
  '65537': ['energy', 'kWh'],
  '66049': ['power', 'W'],
  '66561': ['voltage', 'V'],
  '66817': ['current', 'A'],
}

/** Notifications that are states of a door, a window or a room, by value. */
const NOTIFICATION_STATES: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  Door_state: { 22: 'open', 23: 'closed' },
  Window_state: { 22: 'open', 23: 'closed' },
  Motion_sensor_status: { 0: 'no motion', 7: 'motion detected', 8: 'motion detected' },
}

/** The readings of a device: what can be switched first, then what is measured. */
export function readingsOf(device: Device): Reading[] {
  const actuators = actuatorsOf(device)
  const switched = actuators.map(({ state, dims }) =>
    reading(state, { name: dims ? 'dimmer' : 'switch', text: sayState(state), unit: dims ? '%' : null }),
  )
  const readings = [...switched, ...device.values.filter(isSensorValue).flatMap(readSensor)]
  return nameEndpoints(readings)
}

/** The state of a switch or dimmer in words. */
export function sayState({ commandClass, value }: DeviceValue): string {
  if (value === undefined) return 'unknown'
  if (commandClass !== 'switch_multilevel' || typeof value !== 'number') return value ? 'on' : 'off'
  const percent = toPercent(value)
  if (percent === 0) return 'off'
  return percent === 100 ? 'on' : `dimmed to ${percent} %`
}

function readSensor(value: DeviceValue): Reading[] {
  switch (value.commandClass) {
    case 'sensor_binary':
      return [reading(value, { name: label(value), text: sayBinary(value), unit: null })]
    case 'meter':
      return readMeter(value)
    case 'notification':
      return readNotification(value)
    case 'battery':
      return value.property === 'level' ? [measured(value, 'battery')] : []
    default:
      return [measured(value, label(value))]
  }
}

function readMeter(value: DeviceValue): Reading[] {
  if (value.property !== 'value') return []
  const [name, unit] = METERS[value.key ?? ''] ?? [label(value), '']
  return [measured({ ...value, unit: value.unit ?? unit }, name)]
}

function readNotification(value: DeviceValue): Reading[] {
  const states = NOTIFICATION_STATES[(value.key ?? '').replaceAll(' ', '_')]
  if (!states || typeof value.value === 'boolean') return []
  const text = value.value === undefined ? 'unknown' : (states[Number(value.value)] ?? String(value.value))
  return [reading(value, { name: words(value.key ?? value.property), text, unit: null })]
}

function measured(value: DeviceValue, name: string): Reading {
  const unit = value.unit || (DEFAULT_UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? null)
  const text = value.value === undefined ? 'unknown' : `${value.value}${unit ? ` ${unit}` : ''}`
  return reading(value, { name, text, unit })
}

function reading(value: DeviceValue, said: Pick<Reading, 'name' | 'text' | 'unit'>): Reading {
  return { ...said, value: shown(value), endpoint: value.endpoint, time: value.time ?? null }
}

function shown({ commandClass, value }: DeviceValue): Primitive | null {
  if (value === undefined) return null
  return commandClass === 'switch_multilevel' && typeof value === 'number' ? toPercent(value) : value
}

function sayBinary({ property, value }: DeviceValue): string {
  if (value === undefined) return 'unknown'
  const [, on, off] = BINARY_WORDS.find(([pattern]) => pattern.test(property)) ?? [/./, 'active', 'inactive']
  return value ? on : off
}

function label({ property, commandClass }: DeviceValue): string {
  return commandClass === 'sensor_binary' && property === 'Any' ? 'sensor' : words(property)
}

function words(property: string): string {
  return property.replaceAll('_', ' ').replaceAll('-', '/').toLowerCase()
}

function nameEndpoints(readings: Reading[]): Reading[] {
  const several = new Set(readings.map(({ endpoint }) => endpoint)).size > 1
  if (!several) return readings
  return readings.map(item => ({ ...item, name: `${item.name} at endpoint ${item.endpoint}` }))
}
