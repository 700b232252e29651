import { type Actuator, actuatorsOf, type Device, type DeviceValue, isSensorValue } from './device.ts'
import { LOCKED, toPercent } from './levels.ts'
import type { Primitive } from './payload.ts'
import { isTold, SENSORS, usualUnit } from './sensors.ts'

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
  const sensor = SENSORS[value.commandClass]
  if (!sensor || !isTold(sensor, value)) return []
  const { value: reported } = value
  const name = sensor.name(value)
  const unit = sensor.say ? null : value.unit || usualUnit(name)
  const say = sensor.say ?? (measured => (unit ? `${measured} ${unit}` : String(measured)))
  return [reading(value, { name, text: reported === undefined ? 'unknown' : say(reported, value), unit })]
}

function reading(value: DeviceValue, said: Pick<Reading, 'name' | 'text' | 'unit'>): Reading {
  return { ...said, value: value.value ?? null, endpoint: value.endpoint, time: value.time ?? null }
}

function nameEndpoints(readings: Reading[]): Reading[] {
  const several = new Set(readings.map(({ endpoint }) => endpoint)).size > 1
  if (!several) return readings
  return readings.map(item => ({ ...item, name: `${item.name} at endpoint ${item.endpoint}` }))
}
