import type { Reported } from './payload.ts'
import { SENSORS } from './sensors.ts'
import type { ValueAddress } from './topics.ts'

/** As Z-Wave JS reports it; `Unknown` until it has. */
export const STATUSES = ['Alive', 'Awake', 'Asleep', 'Dead', 'Unknown'] as const
export type NodeStatus = (typeof STATUSES)[number]

/** The last known value at one address of a device. */
export interface DeviceValue extends ValueAddress, Reported {
  readonly min?: number
  readonly max?: number
  /** The numbers it can be set to. */
  readonly choices?: readonly number[]
  /** The topic it was heard on, below the prefix; undefined if known from the gateway's list alone. */
  readonly topic?: string
}

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

export const KINDS = ['switch', 'dimmer', 'cover', 'lock', 'thermostat', 'sensor', 'other'] as const
export type DeviceKind = (typeof KINDS)[number]

/** Something that can be switched: one endpoint of a device. */
export interface Actuator {
  readonly kind: 'switch' | 'dimmer' | 'cover' | 'lock'
  readonly endpoint: number
  readonly state: DeviceValue
  /** The property that accepts commands. */
  readonly target: string
}

/** If an endpoint has several, the first wins. Locks come first, so that nothing else opens a door. */
const RANKS = ['door_lock', 'window_covering', 'switch_multilevel', 'switch_binary']

/** Window Covering parameters that tilt slats rather than move the covering. */
const SLATS = new Set(['10', '11', '22', '23'])

/** What can be switched on a device, by endpoint. */
export function actuatorsOf(device: Device): Actuator[] {
  const byEndpoint = new Map<number, Actuator>()
  for (const state of device.values) {
    const actuator = actuatorAt(device, state)
    const other = byEndpoint.get(state.endpoint)
    if (actuator && (!other || rank(actuator) < rank(other))) byEndpoint.set(state.endpoint, actuator)
  }
  return [...byEndpoint.values()].sort((a, b) => a.endpoint - b.endpoint)
}

function actuatorAt(device: Device, state: DeviceValue): Actuator | undefined {
  const { commandClass, property, endpoint } = state
  if (commandClass === 'door_lock' && property === 'currentMode')
    return { kind: 'lock', endpoint, state, target: 'targetMode' }
  if (property !== 'currentValue' || !RANKS.includes(commandClass)) return undefined
  const kind = kindAt(device, state)
  return kind && { kind, endpoint, state, target: 'targetValue' }
}

function kindAt(
  device: Device,
  { commandClass, endpoint, key }: DeviceValue,
): 'switch' | 'dimmer' | 'cover' | undefined {
  if (commandClass === 'switch_binary') return 'switch'
  // Even-numbered window covering parameters have no settable position.
  if (commandClass === 'window_covering')
    return Number(key) % 2 === 1 && !SLATS.has(key ?? '') ? 'cover' : undefined
  const opens = device.values.some(
    value =>
      value.commandClass === commandClass && value.endpoint === endpoint && /^open$/i.test(value.property),
  )
  return device.isMotor || opens ? 'cover' : 'dimmer'
}

function rank({ state }: Actuator): number {
  return RANKS.indexOf(state.commandClass)
}

/** Whether a value is a sensor reading rather than something switchable. */
export function isSensorValue(value: DeviceValue): boolean {
  return Object.hasOwn(SENSORS, value.commandClass)
}

export function kindOf(device: Device): DeviceKind {
  if (device.values.some(({ commandClass }) => commandClass === 'thermostat_setpoint')) return 'thermostat'
  const kinds = actuatorsOf(device).map(({ kind }) => kind)
  const first = (['lock', 'cover', 'dimmer', 'switch'] as const).find(kind => kinds.includes(kind))
  return first ?? (device.values.some(isSensorValue) ? 'sensor' : 'other')
}

/** The name with the location, which tells devices of the same name apart. */
export function fullName(device: Device): string {
  return device.location ? `${device.name} (${device.location})` : device.name
}
