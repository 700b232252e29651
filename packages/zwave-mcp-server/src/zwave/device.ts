import { commandClass, describeReading } from './command-classes.ts'
import type { DeviceValue, NodeStatus, Primitive } from './messages.ts'

/** An immutable snapshot of a device, for the tools. */
export interface Device {
  /** Stable while this program runs, even across renames. */
  readonly id: number
  /** Its path in the topics, `[<location>/]<name>`. */
  readonly path: string
  /** The gateway that lists it. */
  readonly gateway?: string
  readonly nodeId?: number
  readonly name: string
  readonly location?: string
  readonly status: NodeStatus
  readonly isMotor?: boolean
  readonly values: readonly DeviceValue[]
  /** Whether it publishes its values on topics; otherwise the gateway must be asked for them. */
  readonly isFollowed: boolean
}

export type DeviceKind = Actuator['kind'] | 'thermostat' | 'sensor' | 'other'

/** Something that can be switched: one endpoint of a device. */
export interface Actuator {
  readonly kind: 'switch' | 'dimmer' | 'cover' | 'lock'
  readonly endpoint: number
  readonly state: DeviceValue
  /** The property that accepts commands. */
  readonly target: string
}

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

/** Z-Wave levels are 0–99, people's 0–100. Every level but 99 survives the round trip. */
export const MAX_ZWAVE_LEVEL = 99
/** Tells a dimmer to restore the level it had before it was switched off. */
export const RESTORE_LEVEL = 255
/** The mode of a locked lock. 254 means unknown, anything below is some form of unlocked. */
export const LOCKED = 255
export const UNLOCKED = 0

/** If an endpoint has several, the first wins. Locks come first, so that nothing else opens a door. */
const RANKS = ['door_lock', 'window_covering', 'switch_multilevel', 'switch_binary']
const KINDS = ['lock', 'cover', 'dimmer', 'switch'] as const
/** Window Covering parameters that tilt slats rather than move the covering. */
const SLATS = [11, 23]

/** What can be switched on a device, by endpoint. */
export function actuatorsOf(device: Device): Actuator[] {
  const byEndpoint = new Map<number, Actuator>()
  for (const state of device.values) {
    const { target, property } = commandClass(state.commandClass) ?? {}
    const kind = state.property === property ? actuatorKind(device, state) : undefined
    if (!kind || !target) continue
    const other = byEndpoint.get(state.endpoint)
    if (!other || rank(state) < rank(other.state))
      byEndpoint.set(state.endpoint, { kind, endpoint: state.endpoint, state, target })
  }
  return [...byEndpoint.values()].sort((a, b) => a.endpoint - b.endpoint)
}

function rank({ commandClass }: DeviceValue): number {
  return RANKS.indexOf(commandClass)
}

function actuatorKind(device: Device, state: DeviceValue): Actuator['kind'] | undefined {
  switch (state.commandClass) {
    case 'switch_binary':
      return 'switch'
    case 'door_lock':
      return 'lock'
    case 'window_covering':
      // Even-numbered parameters have no settable position.
      return Number(state.key) % 2 === 1 && !SLATS.includes(Number(state.key)) ? 'cover' : undefined
    case 'switch_multilevel': {
      const opens = device.values.some(
        ({ commandClass, endpoint, property }) =>
          commandClass === state.commandClass && endpoint === state.endpoint && /^open$/i.test(property),
      )
      return device.isMotor || opens ? 'cover' : 'dimmer'
    }
    default:
      return undefined
  }
}

export function kindOf(device: Device): DeviceKind {
  if (device.values.some(({ commandClass }) => commandClass === 'thermostat_setpoint')) return 'thermostat'
  const kinds = actuatorsOf(device).map(({ kind }) => kind)
  return KINDS.find(kind => kinds.includes(kind)) ?? (device.values.some(isSensor) ? 'sensor' : 'other')
}

function isSensor(value: DeviceValue): boolean {
  const known = commandClass(value.commandClass)
  return known !== undefined && known.target === undefined
}

/** The name with the location, which tells devices of the same name apart. */
export function fullName(device: Device): string {
  return device.location ? `${device.name} (${device.location})` : device.name
}

/** The readings of a device: actuators first, then sensors. */
export function readingsOf(device: Device): Reading[] {
  const readings = [...actuatorsOf(device).map(readActuator), ...device.values.flatMap(readSensor)]
  const several = new Set(readings.map(({ endpoint }) => endpoint)).size > 1
  if (!several) return readings
  return readings.map(item => ({ ...item, name: `${item.name} at endpoint ${item.endpoint}` }))
}

function readActuator({ kind, endpoint, state }: Actuator): Reading {
  return {
    name: kind,
    value: shownState(kind, state.value),
    unit: kind === 'dimmer' || kind === 'cover' ? '%' : null,
    text: sayState(kind, state.value),
    endpoint,
    time: state.time ?? null,
  }
}

function readSensor(value: DeviceValue): Reading[] {
  const described = describeReading(value)
  if (!described) return []
  const { value: reported = null, endpoint, time = null } = value
  return [{ ...described, value: reported, endpoint, time }]
}

/** An actuator's state as data: percent, or true for on and locked. */
export function shownState(kind: Actuator['kind'], value: Primitive | undefined): Primitive | null {
  if (value === undefined) return null
  if (kind === 'lock') return value === LOCKED
  return kind !== 'switch' && typeof value === 'number' ? toPercent(value) : value
}

/** An actuator's state as text. */
export function sayState(kind: Actuator['kind'], value: Primitive | undefined): string {
  if (value === undefined || (kind === 'lock' && value === LOCKED - 1)) return 'unknown'
  if (kind === 'lock') return value === LOCKED ? 'locked' : 'unlocked'
  const [full, none] = kind === 'cover' ? ['open', 'closed'] : ['on', 'off']
  if (kind === 'switch' || typeof value !== 'number') return value ? full : none
  const percent = toPercent(value)
  if (percent === 0 || percent === 100) return percent ? full : none
  return kind === 'cover' ? `${percent} % open` : `dimmed to ${percent} %`
}

function toPercent(level: number): number {
  return level >= MAX_ZWAVE_LEVEL ? 100 : level
}
