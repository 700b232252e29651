import type { Primitive } from './payload.ts'
import type { ValueAddress } from './topics.ts'

/** As Z-Wave JS says it. `Unknown` until the gateway has told. */
export type NodeStatus = 'Alive' | 'Awake' | 'Asleep' | 'Dead' | 'Unknown'

/** The last known value at one address of a device. */
export interface DeviceValue extends ValueAddress {
  readonly value?: Primitive
  /** When the device reported it; undefined where nobody said. */
  readonly time?: number
  readonly unit?: string
  readonly label?: string
}

/** A device as the tools see it: a snapshot that does not change under them. */
export interface Device {
  /** Its path in the topics, `[<location>/]<name>`: unique, and where its commands go. */
  readonly path: string
  readonly nodeId?: number
  readonly name: string
  readonly location?: string
  readonly status: NodeStatus
  readonly values: readonly DeviceValue[]
}

export type DeviceKind = 'dimmer' | 'switch' | 'sensor' | 'other'

/** Something that can be switched: one endpoint of a device. */
export interface Actuator {
  readonly endpoint: number
  readonly dims: boolean
  readonly state: DeviceValue
}

const SENSOR_CLASSES = new Set(['sensor_multilevel', 'sensor_binary', 'meter', 'notification', 'battery'])

/** What can be switched on a device, by endpoint; where an endpoint can dim, its dimmer counts. */
export function actuatorsOf(device: Device): Actuator[] {
  const byEndpoint = new Map<number, Actuator>()
  for (const state of device.values) {
    const dims = state.commandClass === 'switch_multilevel'
    if (state.property !== 'currentValue' || !(dims || state.commandClass === 'switch_binary')) continue
    if (dims || !byEndpoint.has(state.endpoint)) {
      byEndpoint.set(state.endpoint, { endpoint: state.endpoint, dims, state })
    }
  }
  return [...byEndpoint.values()].sort((a, b) => a.endpoint - b.endpoint)
}

/** Whether a value is measured by the device rather than set by people. */
export function isSensorValue(value: DeviceValue): boolean {
  return SENSOR_CLASSES.has(value.commandClass)
}

export function kindOf(device: Device): DeviceKind {
  const actuators = actuatorsOf(device)
  if (actuators.some(actuator => actuator.dims)) return 'dimmer'
  if (actuators.length > 0) return 'switch'
  return device.values.some(isSensorValue) ? 'sensor' : 'other'
}

/** The name that tells a device from all others. */
export function fullName(device: Device): string {
  return device.location ? `${device.name} (${device.location})` : device.name
}
