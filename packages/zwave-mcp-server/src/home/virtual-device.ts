import { readData } from '../data.ts'
import { LEVELS } from '../zwave/device.ts'
import { nodePath, type TopicStyle, valuePath } from '../zwave/topics.ts'
import type { NodeStatus, Primitive, ValueAddress } from '../zwave/values.ts'
import { commandClassNumber, isRecord, STATUSES } from '../zwave/values.ts'

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
export type Drift = Readonly<Record<'step' | 'min' | 'max' | 'everyMs', number>>

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

/** The default home: one device of each kind, a dead one and one that never answers; and the values of each type. */
const home = readData<{
  readonly devices: readonly DeviceDescription[]
  readonly scenes: readonly SceneDescription[]
  readonly controller: object
  readonly types: Readonly<Record<string, readonly (Partial<VirtualValue> & { commandClass: string })[]>>
}>('home.json')
export const { devices: DEFAULT_DEVICES, scenes: DEFAULT_SCENES, controller: CONTROLLER } = home
const MOTOR = { basic: 4, generic: 17, specific: 7 }

/** Reads devices described in JSON: `{"devices": […]}` or the list alone. Errors name the path of the mistake. */
export function describeDevices(json: unknown): DeviceDescription[] {
  const devices = isRecord(json) ? json.devices : json
  if (!Array.isArray(devices)) throw new Error('A home description must be {"devices": [...]}.')
  for (const [index, device] of devices.entries()) {
    const at = `devices[${index}]`
    if (!isRecord(device) || !Array.isArray(device.values)) throw new Error(`${at}.values must be a list.`)
    if (device.status !== undefined && !STATUSES.some(known => known === device.status))
      throw new Error(`${at}.status must be one of ${STATUSES.join(', ')}.`)
    for (const [number, value] of device.values.entries())
      if (!isRecord(value) || !Object.hasOwn(home.types, String(value.type)))
        throw new Error(`${at}.values[${number}].type must be one of ${Object.keys(home.types).join(', ')}.`)
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
    return nodePath({ nodeId: this.nodeId, name: this.name, location: this.description.location }, style)
  }

  topicOf(value: ValueAddress, style: TopicStyle): string {
    return valuePath(this.path(style), value, style)
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
    const { nodeId: id, name, status, description } = this
    const { location: loc = '', values } = description
    const motor = values.some(({ type }) => type === 'cover') ? { deviceClass: MOTOR } : {}
    const listed = this.values.map(value => [valueId(value), this.toValueId(value)])
    const available = status !== 'Dead'
    return { id, name, loc, status, available, ready: true, ...motor, values: Object.fromEntries(listed) }
  }

  /** A value as `getNodes` lists it, and as it is published with payload type `entire`. */
  toValueId(virtual: VirtualValue): Record<string, unknown> {
    const { commandClass: name, property, key, drift: _, ...value } = virtual
    const { nodeId } = this
    const address = { commandClass: commandClassNumber(name), property, propertyName: property }
    const propertyKey = key === undefined ? {} : { propertyKey: Number(key) }
    return { ...value, id: `${nodeId}-${valueId(virtual)}`, nodeId, ...address, ...propertyKey }
  }

  #meant({ type, commandClass: name, endpoint }: VirtualValue, wanted: Primitive): Primitive {
    if (type === 'boolean') return Boolean(wanted)
    if (name !== 'switch_multilevel') return Number(wanted)
    const restored = this.#lastLevels.get(endpoint) ?? LEVELS.full
    const level = wanted === LEVELS.restore ? restored : Math.round(Number(wanted))
    const bounded = Math.max(0, Math.min(LEVELS.full, level))
    if (bounded > 0) this.#lastLevels.set(endpoint, bounded)
    return bounded
  }
}

/** The id that Z-Wave JS gives a value within its node. */
export function valueId({ commandClass: name, endpoint, property, key }: VirtualValue): string {
  return [commandClassNumber(name), endpoint, property, ...(key === undefined ? [] : [key])].join('-')
}

/** The values that a gateway lists for a description. */
function valuesOf(description: ValueDescription, lastUpdate: number): VirtualValue[] {
  const { type, endpoint = 0, value, property = '', unit, mode, drift } = description
  const templates = home.types[`${type} ${unit}`] ?? home.types[type] ?? []
  const lock = value === undefined ? undefined : value ? LEVELS.locked : LEVELS.unlocked
  return templates.map(template => {
    const given = template.property === 'mode' ? mode : type === 'lock' ? lock : value
    const own = { ...(unit && { unit }), ...(drift && { drift }), value: given ?? template.value }
    return { type: 'number', endpoint, property, writeable: false, lastUpdate, ...template, ...own }
  })
}
