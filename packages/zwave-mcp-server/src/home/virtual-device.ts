import { readData } from '../data.ts'
import { LOCKED, MAX_ZWAVE_LEVEL, RESTORE_LEVEL, UNLOCKED } from '../zwave/device.ts'
import { nodePath, type TopicStyle, valuePath } from '../zwave/topics.ts'
import {
  commandClass,
  commandClassNumber,
  isPrimitive,
  isRecord,
  type NodeStatus,
  type Primitive,
  parseJson,
  STATUSES,
  THERMOSTAT_MODES,
  type ValueAddress,
} from '../zwave/values.ts'

export interface DeviceDescription {
  readonly nodeId?: number
  readonly name?: string
  readonly location?: string
  readonly status?: NodeStatus
  /** How long it takes to act on a command; defaults to the home's delay. */
  readonly delayMs?: number
  /** False: it accepts commands but never reports. */
  readonly answers?: boolean
  readonly values: readonly ValueDescription[]
}

export interface ValueDescription {
  readonly type: 'switch' | 'dimmer' | 'cover' | 'lock' | 'thermostat' | 'sensor' | 'binary'
  readonly endpoint?: number
  /** Default: off, closed, locked, 20 degrees, or not known yet. */
  readonly value?: boolean | number
  /** Of sensors, as Z-Wave names it: "Air temperature", "Humidity", "Power"; "Door/Window" or "Motion". */
  readonly property?: string
  readonly unit?: string
  /** Of a thermostat, by number. */
  readonly mode?: number
  readonly drift?: Drift
}

/** How a sensor drifts: one step every `everyMs`, back and forth between two bounds. */
export interface Drift {
  readonly step: number
  readonly min: number
  readonly max: number
  readonly everyMs: number
}

/** A scene: device name → what its first writeable value is set to. */
export interface SceneDescription {
  readonly name: string
  readonly values: Readonly<Record<string, Primitive>>
}

/** A value of a virtual device. As in Z-Wave, a switch has two: target and current. */
export interface VirtualValue extends ValueAddress {
  value: Primitive | undefined
  lastUpdate: number
  readonly writeable: boolean
  readonly type: 'boolean' | 'number'
  readonly unit?: string
  readonly drift?: Drift
  readonly min?: number
  readonly max?: number
  readonly states?: ReadonlyArray<{ readonly text: string; readonly value: number }>
}

/** The default home: one device of each kind, a dead one and one that never answers. */
export const { devices: DEFAULT_DEVICES, scenes: DEFAULT_SCENES } = readData<{
  readonly devices: readonly DeviceDescription[]
  readonly scenes: readonly SceneDescription[]
}>('home.json')

/** The command class of each type of value. */
const CLASSES = {
  switch: 'switch_binary',
  dimmer: 'switch_multilevel',
  cover: 'switch_multilevel',
  lock: 'door_lock',
  thermostat: 'thermostat_setpoint',
  sensor: 'sensor_multilevel',
  binary: 'sensor_binary',
} as const
const MOTOR = { basic: 4, generic: 17, specific: 7 }
const HEAT = 1

/** Reads devices described in JSON: `{"devices": […]}` or the list alone. Errors name the path of the mistake. */
export function describeDevices(json: unknown): DeviceDescription[] {
  const devices = isRecord(json) ? json.devices : json
  if (!Array.isArray(devices)) throw new Error('A home description must be {"devices": [...]}.')
  for (const [index, device] of devices.entries()) {
    const at = `devices[${index}]`
    if (!isRecord(device) || !Array.isArray(device.values)) throw new Error(`${at}.values must be a list.`)
    if (device.status !== undefined && !STATUSES.some(known => known === device.status))
      throw new Error(`${at}.status must be one of ${STATUSES.join(', ')}.`)
    for (const [number, value] of device.values.entries()) {
      if (!isRecord(value) || !Object.hasOwn(CLASSES, String(value.type)))
        throw new Error(`${at}.values[${number}].type must be one of ${Object.keys(CLASSES).join(', ')}.`)
      if (['sensor', 'binary'].includes(String(value.type)) && typeof value.property !== 'string')
        throw new Error(`${at}.values[${number}].property is missing.`)
    }
  }
  return devices
}

/** A device of the virtual home: its state, and how it acts on commands. Knows nothing about MQTT. */
export class VirtualDevice {
  readonly description: DeviceDescription
  readonly nodeId: number
  readonly values: readonly VirtualValue[]
  name: string
  status: NodeStatus
  readonly #lastLevels = new Map<number, number>()

  constructor(description: DeviceDescription, nodeId: number, now: number) {
    this.description = description
    this.nodeId = description.nodeId ?? nodeId
    this.name = description.name ?? ''
    this.status = description.status ?? 'Alive'
    this.values = description.values.flatMap(value => valuesOf(value, now))
  }

  /** Its path in the topics, `[<location>/]<name or number>`. */
  path(style: TopicStyle): string {
    const { location } = this.description
    return nodePath({ id: this.nodeId, name: this.name, location }, style)
  }

  topicOf(value: ValueAddress, style: TopicStyle): string {
    return valuePath(this.path(style), value, style)
  }

  /** Whether it can be reached over the air and reports what it did. */
  get responds(): boolean {
    return this.description.answers !== false && this.status !== 'Dead' && this.status !== 'Asleep'
  }

  /** Acts on a command; returns the values to report: a target and its current value change together. */
  act(target: VirtualValue, wanted: Primitive, now: number): VirtualValue[] {
    const role = ({ commandClass: name, endpoint, property, key }: VirtualValue) =>
      [name, endpoint, key, property.replace(/^(?:target|current)/, '')].join()
    const changed = this.values.filter(value => role(value) === role(target))
    const value = this.#meant(target, wanted)
    for (const item of changed) Object.assign(item, { value, lastUpdate: now })
    return changed
  }

  /** As `getNodes` lists it. */
  toNode(): Record<string, unknown> {
    const { location: loc = '', values } = this.description
    return {
      id: this.nodeId,
      name: this.name,
      loc,
      status: this.status,
      available: this.status !== 'Dead',
      ready: true,
      isControllerNode: false,
      ...(values.some(({ type }) => type === 'cover') && { deviceClass: MOTOR }),
      values: Object.fromEntries(this.values.map(value => [valueId(value), this.toValueId(value)])),
    }
  }

  /** A value as `getNodes` lists it, and as it is published with payload type `entire`. */
  toValueId(virtual: VirtualValue): Record<string, unknown> {
    const { commandClass: name, property, key, drift: _, ...value } = virtual
    return {
      ...value,
      id: `${this.nodeId}-${valueId(virtual)}`,
      nodeId: this.nodeId,
      commandClass: commandClassNumber(name),
      property,
      propertyName: property,
      ...(key !== undefined && { propertyKey: Number(key) }),
      readable: true,
      label: property,
    }
  }

  #meant({ type, commandClass: name, endpoint }: VirtualValue, wanted: Primitive): Primitive {
    if (type === 'boolean') return Boolean(wanted)
    if (name !== 'switch_multilevel') return Number(wanted)
    const restored = this.#lastLevels.get(endpoint) ?? MAX_ZWAVE_LEVEL
    const level = wanted === RESTORE_LEVEL ? restored : Math.round(Number(wanted))
    const bounded = Math.max(0, Math.min(MAX_ZWAVE_LEVEL, level))
    if (bounded > 0) this.#lastLevels.set(endpoint, bounded)
    return bounded
  }
}

/** The id that Z-Wave JS gives a value within its node. */
export function valueId({ commandClass: name, endpoint, property, key }: VirtualValue): string {
  return [commandClassNumber(name), endpoint, property, ...(key === undefined ? [] : [key])].join('-')
}

/** Parses a `…/set` payload as the gateway does: raw or `{"value": …}`, "on" and "off", numbers for booleans and back. */
export function parseCommand(text: string, type: 'boolean' | 'number'): Primitive | undefined {
  const json = parseJson(text) ?? text
  const value = isRecord(json) ? json.value : json
  const [, on, off] = (typeof value === 'string' && /\b(?:(true|on)|(false|off))\b/i.exec(value)) || []
  const plain = typeof value === 'string' ? (on || off ? on !== undefined : undefined) : value
  if (!isPrimitive(plain)) return undefined
  if (type === 'boolean') return typeof plain === 'number' ? plain > 0 : plain
  return typeof plain === 'boolean' ? (plain ? RESTORE_LEVEL : 0) : plain
}

/** The values that a gateway lists for a description. */
function valuesOf(description: ValueDescription, lastUpdate: number): VirtualValue[] {
  const { type, endpoint = 0, value, property = '', unit, drift, mode = HEAT } = description
  const name = CLASSES[type]
  const { property: current = property, target, type: kind = 'number' } = commandClass(name) ?? {}
  const shown = {
    commandClass: name,
    endpoint,
    property: current,
    lastUpdate,
    writeable: false,
    type: type === 'binary' ? 'boolean' : kind,
    ...(unit && { unit }),
    ...(drift && { drift }),
  } as const
  if (type === 'sensor') return [{ ...shown, value }]
  if (type === 'thermostat') {
    const [min, max] = /F/.test(unit ?? '') ? [45, 90] : [7, 32]
    const states = [...new Set([0, HEAT, mode])].map(number => ({
      text: THERMOSTAT_MODES[number] ?? '',
      value: number,
    }))
    const settable = { ...shown, writeable: true }
    return [
      { ...settable, key: '1', unit: unit ?? '°C', min, max, value: value ?? 20 },
      { ...settable, commandClass: 'thermostat_mode', property: 'mode', value: mode, states },
    ]
  }
  if (type === 'binary') return [{ ...shown, value: value ?? false }]
  const lock = (value ?? true) ? LOCKED : UNLOCKED
  const state = type === 'lock' ? lock : (value ?? (type === 'switch' ? false : 0))
  return [
    { ...shown, value: state },
    { ...shown, property: target ?? '', writeable: true, value: state },
  ]
}
