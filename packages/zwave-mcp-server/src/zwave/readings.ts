import { type Actuator, actuatorsOf, type Device, type DeviceValue, isSensorValue } from './device.ts'
import { LOCKED, toPercent } from './levels.ts'
import type { Primitive } from './payload.ts'
import { isTold, SENSORS, usualUnit } from './sensors.ts'

/** One value of a device, as shown to people and models. */
export interface Reading {
  /** What is measured, e.g. "air temperature"; with the endpoint if a device has several. */
  readonly name: string
  readonly value: Primitive | null
  readonly unit: string | null
  /** The value as text: "21.5 °C", "open", "dimmed to 40 %", "unknown". */
  readonly text: string
  readonly endpoint: number
  readonly time: number | null
}

/** The readings of a device: actuators first, then sensors. */
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

/** An actuator's state as data: percent, or true for on and locked. */
export function shownState(kind: Actuator['kind'], value: Primitive | undefined): Primitive | null {
  if (value === undefined) return null
  if (kind === 'lock') return value === LOCKED
  return kind !== 'switch' && typeof value === 'number' ? toPercent(value) : value
}

/** An actuator's state as text. */
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
