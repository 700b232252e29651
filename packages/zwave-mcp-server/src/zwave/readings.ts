import { type Actuator, actuatorsOf, type Device, type DeviceValue, isSensorValue } from './device.ts'
import { LOCKED, toPercent } from './levels.ts'
import type { Primitive } from './payload.ts'
import { sayActivity, sayMode, setpointName } from './thermostat.ts'

/** One value of a device as it is told to people and models. */
export interface Reading {
  /** What is measured, e.g. "air temperature"; with the endpoint if a device has several. */
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

/** What the gateway does not say in a topic; if it lists its nodes, its own units win. */
const DEFAULT_UNITS: ReadonlyArray<readonly [RegExp, string]> = [
  [/temperature|setpoint/i, '°C'],
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

/** What was done to a button of a scene controller. */
const KEY_PRESSES = [
  'pressed once',
  'released',
  'held down',
  'pressed twice',
  'pressed 3 times',
  'pressed 4 times',
]

/** The readings of a device: what can be switched first, then what is measured. */
export function readingsOf(device: Device): Reading[] {
  const actuators = actuatorsOf(device)
  const switched = actuators.map(readActuator)
  const readings = [...switched, ...device.values.filter(isSensorValue).flatMap(readSensor)]
  return nameEndpoints(readings)
}

function readActuator({ kind, state }: Actuator): Reading {
  const isLevel = kind === 'dimmer' || kind === 'cover'
  return {
    ...reading(state, { name: kind, text: sayState(kind, state.value), unit: isLevel ? '%' : null }),
    value: shownState(kind, state.value),
  }
}

/** The state of what can be switched, as a number of percent, or true for on and locked. */
export function shownState(kind: Actuator['kind'], value: Primitive | undefined): Primitive | null {
  if (value === undefined) return null
  if (kind === 'lock') return value === LOCKED
  return kind !== 'switch' && typeof value === 'number' ? toPercent(value) : value
}

/** The state of what can be switched, in words. */
export function sayState(kind: Actuator['kind'], value: Primitive | undefined): string {
  if (value === undefined) return 'unknown'
  if (kind === 'lock')
    return value === LOCKED ? 'locked' : Number(value) < LOCKED - 1 ? 'unlocked' : 'unknown'
  const [full, none] = kind === 'cover' ? ['open', 'closed'] : ['on', 'off']
  if (kind === 'switch' || typeof value !== 'number') return value ? full : none
  const percent = toPercent(value)
  if (percent === 0 || percent === 100) return percent ? full : none
  return kind === 'cover' ? `${percent} % open` : `dimmed to ${percent} %`
}

function readSensor(value: DeviceValue): Reading[] {
  switch (value.commandClass) {
    case 'sensor_binary':
      return [reading(value, { name: label(value), text: sayBinary(value), unit: null })]
    case 'meter':
      return readMeter(value)
    case 'notification':
      return readNotification(value)
    case 'thermostat_setpoint':
      return value.property === 'setpoint' ? [measured(value, setpointName(value))] : []
    case 'thermostat_mode':
      return value.property === 'mode' ? [coded(value, 'mode', sayMode)] : []
    case 'thermostat_operating_state':
      return value.property === 'state' ? [coded(value, 'activity', sayActivity)] : []
    case 'central_scene':
      return value.property === 'scene' ? [coded(value, `button ${Number(value.key)}`, sayKeyPress)] : []
    case 'scene_activation':
      return value.property === 'sceneId' ? [coded(value, 'scene', String)] : []
    case 'battery':
      return value.property === 'level' ? [measured(value, 'battery')] : []
    default:
      return [measured(value, label(value))]
  }
}

/** A value that is a number with a meaning. */
function coded(value: DeviceValue, name: string, say: (code: number) => string): Reading {
  const text = value.value === undefined ? 'unknown' : say(Number(value.value))
  return reading(value, { name, text, unit: null })
}

function sayKeyPress(press: number): string {
  return KEY_PRESSES[press] ?? `pressed (${press})`
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
  return { ...said, value: value.value ?? null, endpoint: value.endpoint, time: value.time ?? null }
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
