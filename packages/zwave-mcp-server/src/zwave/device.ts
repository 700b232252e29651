import type { ActuatorKind, DeviceValue, NodeStatus, Primitive } from './values.ts'
import { CLASS_ORDER, commandClass, describeReading } from './values.ts'

/** An immutable snapshot of a device, for the tools. */
export interface Device {
  /** Stable while this program runs, even across renames. */
  readonly id: number
  /** Its path in the topics, `[<location>/]<name>`. */
  readonly path: string
  /** False if known from topics alone. */
  readonly isListed: boolean
  readonly nodeId?: number | undefined
  readonly name: string
  readonly location?: string | undefined
  readonly status: NodeStatus
  readonly isMotor?: boolean
  readonly values: readonly DeviceValue[]
  /** Whether it publishes its values on topics; otherwise the gateway must be asked for them. */
  readonly isFollowed: boolean
}

export type DeviceKind = ActuatorKind | 'thermostat' | 'sensor' | 'other'

/** Something that can be switched: one endpoint of a device. */
export interface Actuator {
  readonly kind: ActuatorKind
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

/** What certain numbers mean to Z-Wave devices. */
export const LEVELS = {
  /** Z-Wave levels are 0–99, people's 0–100. Every level but 99 survives the round trip. */
  full: 99,
  /** Tells a dimmer to restore the level it had before it was switched off. */
  restore: 255,
  /** The mode of a locked lock. 254 means unknown, anything below is some form of unlocked. */
  locked: 255,
  unlocked: 0,
} as const

/** What can be switched on a device, by endpoint. Locks come first, so that nothing else opens a door. */
export function actuatorsOf(device: Device): Actuator[] {
  const rank = (actuator: Actuator) => CLASS_ORDER.indexOf(actuator.state.commandClass)
  const all = device.values.flatMap((state): Actuator[] => {
    const { kind, target, property, keys } = commandClass(state.commandClass) ?? {}
    if (!kind || !target || state.property !== property || (keys && !keys.includes(state.key ?? '')))
      return []
    return [{ kind: isCover(device, state) ? 'cover' : kind, endpoint: state.endpoint, state, target }]
  })
  const sorted = all.sort((a, b) => a.endpoint - b.endpoint || rank(a) - rank(b))
  return sorted.filter(({ endpoint }, at) => sorted[at - 1]?.endpoint !== endpoint)
}

/** A multilevel switch moves something if it is a motor, or can be told to open. */
function isCover({ values, isMotor }: Device, state: DeviceValue): boolean {
  const isBeside = ({ commandClass: name, endpoint }: DeviceValue) =>
    name === state.commandClass && endpoint === state.endpoint
  return (
    state.commandClass === 'switch_multilevel' &&
    (isMotor || values.some(value => isBeside(value) && /^open$/i.test(value.property)))
  )
}

export function kindOf(device: Device): DeviceKind {
  if (device.values.some(value => value.commandClass === 'thermostat_setpoint')) return 'thermostat'
  const kinds = actuatorsOf(device).map(({ kind }) => kind)
  const known = (['lock', 'cover', 'dimmer', 'switch'] as const).find(kind => kinds.includes(kind))
  const classes = device.values.flatMap(value => commandClass(value.commandClass) ?? [])
  return known ?? (classes.some(({ target }) => target === undefined) ? 'sensor' : 'other')
}

/** The name with the location, which tells devices of the same name apart. */
export function fullName({ name, location }: Device): string {
  return location ? `${name} (${location})` : name
}

/** The readings of a device: actuators first, then sensors. */
export function readingsOf(device: Device): Reading[] {
  const placed = ({ endpoint, time }: DeviceValue) => ({ endpoint, time: time ?? null })
  const actuators = actuatorsOf(device).map(({ kind, state }) => {
    const unit = kind === 'dimmer' || kind === 'cover' ? '%' : null
    const value = shownState(kind, state.value)
    return { name: kind, unit, value, ...placed(state), text: sayState(kind, state.value) }
  })
  const sensors = device.values.flatMap(value => {
    const described = describeReading(value)
    return described ? [{ ...described, value: value.value ?? null, ...placed(value) }] : []
  })
  const readings = [...actuators, ...sensors]
  if (new Set(readings.map(({ endpoint }) => endpoint)).size < 2) return readings
  return readings.map(item => ({ ...item, name: `${item.name} at endpoint ${item.endpoint}` }))
}

/** An actuator's state as data: percent, or true for on and locked. */
export function shownState(kind: ActuatorKind, value: Primitive | undefined): Primitive | null {
  if (value === undefined) return null
  if (kind === 'lock') return value === LEVELS.locked
  return kind !== 'switch' && typeof value === 'number' ? toPercent(value) : value
}

/** An actuator's state as text. */
export function sayState(kind: ActuatorKind, value: Primitive | undefined): string {
  if (value === undefined || (kind === 'lock' && value === LEVELS.locked - 1)) return 'unknown'
  if (kind === 'lock') return value === LEVELS.locked ? 'locked' : 'unlocked'
  const [full, none] = kind === 'cover' ? ['open', 'closed'] : ['on', 'off']
  if (kind === 'switch' || typeof value !== 'number') return value ? full : none
  const percent = toPercent(value)
  if (percent === 0 || percent === 100) return percent ? full : none
  return kind === 'cover' ? `${percent} % open` : `dimmed to ${percent} %`
}

function toPercent(level: number): number {
  return level >= LEVELS.full ? 100 : level
}
