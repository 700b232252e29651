import { readData } from '../data.ts'
import { commandClass, commandClassNumber, sayValue, type ValueAddress } from '../zwave/command-classes.ts'
import { LOCKED, MAX_ZWAVE_LEVEL, RESTORE_LEVEL, UNLOCKED } from '../zwave/device.ts'
import {
  isPrimitive,
  isRecord,
  type NodeStatus,
  type Primitive,
  parseJson,
  STATUSES,
} from '../zwave/messages.ts'
import { nodePath, type TopicStyle, valuePath } from '../zwave/topics.ts'

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

const DEFAULT_HOME = readData<{ devices: DeviceDescription[]; scenes: SceneDescription[] }>('home.json')
/** The default home: one device of each kind, a dead one and one that never answers. */
export const DEFAULT_DEVICES: readonly DeviceDescription[] = DEFAULT_HOME.devices
export const DEFAULT_SCENES: readonly SceneDescription[] = DEFAULT_HOME.scenes

const SWITCHABLE = {
  switch: 'switch_binary',
  dimmer: 'switch_multilevel',
  cover: 'switch_multilevel',
  lock: 'door_lock',
}
const TYPES = [...Object.keys(SWITCHABLE), 'thermostat', 'sensor', 'binary']
const FULL_LEVEL = 255
const MOTOR = { basic: 4, generic: 17, specific: 7 }
const HEAT = 1

/** Reads devices described in JSON: `{"devices": […]}` or the list alone. Errors name the path of the mistake. */
export function describeDevices(json: unknown): DeviceDescription[] {
  const devices = isRecord(json) ? json.devices : json
  if (!Array.isArray(devices)) throw new Error('A home description must be {"devices": [...]}.')
  for (const [index, device] of devices.entries()) {
    const at = `devices[${index}]`
    if (!isRecord(device)) throw new Error(`${at} must be an object.`)
    const { status, values } = device
    if (status !== undefined && !STATUSES.some(known => known === status))
      throw new Error(`${at}.status cannot be ${JSON.stringify(status)}.`)
    if (!Array.isArray(values)) throw new Error(`${at}.values must be a list.`)
    for (const [number, value] of values.entries()) checkValue(value, `${at}.values[${number}]`)
  }
  return devices
}

function checkValue(value: unknown, at: string): void {
  if (!isRecord(value) || !TYPES.includes(String(value.type)))
    throw new Error(`${at}.type must be one of ${TYPES.join(', ')}.`)
  if ((value.type === 'sensor' || value.type === 'binary') && typeof value.property !== 'string')
    throw new Error(`${at}.property is missing.`)
  const wanted = ['switch', 'lock', 'binary'].includes(String(value.type)) ? 'boolean' : 'number'
  if (value.value !== undefined && typeof value.value !== wanted)
    throw new Error(`${at}.value cannot be ${JSON.stringify(value.value)}.`)
}

/** A device of the virtual home: its state, and how it acts on commands. Knows nothing about MQTT. */
export class VirtualDevice {
  readonly nodeId: number
  readonly location: string
  readonly delayMs: number | undefined
  readonly answers: boolean
  readonly isMotor: boolean
  readonly values: readonly VirtualValue[]
  name: string
  status: NodeStatus
  readonly #lastLevels = new Map<number, number>()

  constructor(description: DeviceDescription, nodeId: number, now: number) {
    this.nodeId = description.nodeId ?? nodeId
    this.name = description.name ?? ''
    this.location = description.location ?? ''
    this.delayMs = description.delayMs
    this.answers = description.answers ?? true
    this.status = description.status ?? 'Alive'
    this.isMotor = description.values.some(({ type }) => type === 'cover')
    this.values = description.values.flatMap(value => makeValues(value, now))
  }

  /** Its path in the topics, `[<location>/]<name or number>`. */
  path(style: TopicStyle): string {
    return nodePath({ id: this.nodeId, name: this.name, location: this.location }, style)
  }

  topicOf(value: ValueAddress, style: TopicStyle): string {
    return valuePath(this.path(style), value, style)
  }

  /** Whether it can be reached over the air and reports what it did. */
  get responds(): boolean {
    return this.answers && this.status !== 'Dead' && this.status !== 'Asleep'
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
    return {
      id: this.nodeId,
      name: this.name,
      loc: this.location,
      status: this.status,
      available: this.status !== 'Dead',
      ready: true,
      isControllerNode: false,
      ...(this.isMotor && { deviceClass: MOTOR }),
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
  return typeof plain === 'boolean' ? (plain ? FULL_LEVEL : 0) : plain
}

/** The values that a gateway lists for a description. */
function makeValues(description: ValueDescription, lastUpdate: number): VirtualValue[] {
  const { type, endpoint = 0, value, property = '', unit, drift } = description
  const common = { endpoint, lastUpdate, writeable: false, ...(unit && { unit }), ...(drift && { drift }) }
  if (type === 'sensor')
    return [{ ...common, commandClass: 'sensor_multilevel', type: 'number', property, value }]
  if (type === 'binary')
    return [{ ...common, commandClass: 'sensor_binary', type: 'boolean', property, value: value ?? false }]
  if (type === 'thermostat') return thermostat(description, common)
  const name = SWITCHABLE[type]
  const { property: current = '', target = '', type: kind = 'number' } = commandClass(name) ?? {}
  const mode = (value ?? true) ? LOCKED : UNLOCKED
  const state = type === 'lock' ? mode : (value ?? (type === 'switch' ? false : 0))
  const shown = { ...common, commandClass: name, type: kind, value: state }
  return [
    { ...shown, property: current },
    { ...shown, property: target, writeable: true },
  ]
}

function thermostat(
  { value = 20, unit = '°C', mode = HEAT }: ValueDescription,
  common: Pick<VirtualValue, 'endpoint' | 'lastUpdate'>,
): VirtualValue[] {
  const [min, max] = /F/.test(unit) ? [45, 90] : [7, 32]
  const states = [...new Set([0, HEAT, mode])].map(number => ({
    text: sayValue('thermostat_mode', number),
    value: number,
  }))
  const settable = { ...common, type: 'number', writeable: true } as const
  const setpoint = { commandClass: 'thermostat_setpoint', property: 'setpoint', key: '1', unit, min, max }
  return [
    { ...settable, ...setpoint, value },
    { ...settable, commandClass: 'thermostat_mode', property: 'mode', value: mode, states },
  ]
}
