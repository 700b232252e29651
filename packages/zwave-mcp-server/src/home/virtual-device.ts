import { commandClassNumber } from '../zwave/command-classes.ts'
import type { NodeStatus } from '../zwave/device.ts'
import { MAX_ZWAVE_LEVEL, RESTORE_LEVEL } from '../zwave/levels.ts'
import type { Primitive } from '../zwave/payload.ts'
import { nodePath, type ValueAddress, valuePath } from '../zwave/topics.ts'

/** How a sensor moves by itself: every so often by one step, to and fro between two bounds. */
export interface Drift {
  readonly step: number
  readonly min: number
  readonly max: number
  readonly everyMs: number
}

export type ValueDescription =
  | { readonly type: 'switch'; readonly endpoint?: number; readonly value?: boolean }
  | { readonly type: 'dimmer'; readonly endpoint?: number; readonly value?: number }
  | {
      readonly type: 'sensor'
      readonly endpoint?: number
      /** As Z-Wave names it, e.g. "Air temperature", "Humidity", "Illuminance", "Power". */
      readonly property: string
      readonly unit?: string
      readonly value?: number
      readonly drift?: Drift
    }
  | {
      readonly type: 'binary'
      readonly endpoint?: number
      readonly property: string
      readonly value?: boolean
    }

export interface DeviceDescription {
  readonly nodeId?: number
  readonly name?: string
  readonly location?: string
  readonly status?: NodeStatus
  /** How long it takes to act on a command; left out: as long as the home says. */
  readonly delayMs?: number
  /** False: it takes commands and never reports. */
  readonly answers?: boolean
  readonly values: readonly ValueDescription[]
}

/** A value of a virtual device. A switch has two, as in Z-Wave: what was wanted and what is. */
export interface VirtualValue extends ValueAddress {
  value: Primitive | undefined
  lastUpdate: number
  readonly type: 'boolean' | 'number'
  readonly unit?: string
  readonly drift?: Drift
  readonly writeable: boolean
}

const CLASSES = {
  switch: 'switch_binary',
  dimmer: 'switch_multilevel',
  sensor: 'sensor_multilevel',
  binary: 'sensor_binary',
} as const

/** A device of the virtual home: its state, and how it acts on commands. It knows nothing of MQTT. */
export class VirtualDevice {
  readonly nodeId: number
  readonly name: string
  readonly location: string
  readonly delayMs: number | undefined
  readonly answers: boolean
  readonly values: readonly VirtualValue[]
  status: NodeStatus
  readonly #lastLevels = new Map<number, number>()

  constructor(description: DeviceDescription, nodeId: number, now: number) {
    this.nodeId = description.nodeId ?? nodeId
    this.name = description.name ?? ''
    this.location = description.location ?? ''
    this.delayMs = description.delayMs
    this.answers = description.answers ?? true
    this.status = description.status ?? 'Alive'
    this.values = description.values.flatMap(value => makeValues(value, now))
  }

  /** Its path in the topics, `[<location>/]<name>`. */
  get path(): string {
    return nodePath({ id: this.nodeId, name: this.name, location: this.location })
  }

  topicOf(value: ValueAddress): string {
    return valuePath(this.path, value)
  }

  /** Whether it can be reached over the air and tells what it did. */
  get responds(): boolean {
    return this.answers && this.status !== 'Dead' && this.status !== 'Asleep'
  }

  /** Acts on a command for a switch or dimmer; gives the values that it reports then. */
  act(target: VirtualValue, wanted: Primitive, now: number): VirtualValue[] {
    const value = target.type === 'boolean' ? Boolean(wanted) : this.#level(target.endpoint, Number(wanted))
    const changed = this.values.filter(
      ({ commandClass, endpoint, property }) =>
        commandClass === target.commandClass && endpoint === target.endpoint && /Value$/.test(property),
    )
    for (const item of changed) Object.assign(item, { value, lastUpdate: now })
    return changed
  }

  #level(endpoint: number, wanted: number): number {
    const level = wanted === RESTORE_LEVEL ? (this.#lastLevels.get(endpoint) ?? MAX_ZWAVE_LEVEL) : wanted
    const bounded = Math.max(0, Math.min(MAX_ZWAVE_LEVEL, Math.round(level)))
    if (bounded > 0) this.#lastLevels.set(endpoint, bounded)
    return bounded
  }
}

function makeValues(description: ValueDescription, now: number): VirtualValue[] {
  const { type, endpoint = 0 } = description
  const isBoolean = type === 'switch' || type === 'binary'
  const common = {
    commandClass: CLASSES[type],
    endpoint,
    type: isBoolean ? ('boolean' as const) : ('number' as const),
    value: 'value' in description ? description.value : type === 'sensor' ? undefined : isBoolean ? false : 0,
    lastUpdate: now,
  }
  if (type === 'switch' || type === 'dimmer') {
    return [
      { ...common, property: 'currentValue', writeable: false },
      { ...common, property: 'targetValue', writeable: true },
    ]
  }
  const { property } = description
  if (type === 'binary') return [{ ...common, property, writeable: false }]
  const { unit, drift } = description
  return [{ ...common, property, writeable: false, ...(unit && { unit }), ...(drift && { drift }) }]
}

/** A device as the gateway's `getNodes` lists it. */
export function toNode(device: VirtualDevice): Record<string, unknown> {
  const { nodeId, name, location, status } = device
  return {
    id: nodeId,
    name,
    loc: location,
    status,
    available: status !== 'Dead',
    ready: true,
    failed: status === 'Dead',
    inited: true,
    isControllerNode: false,
    interviewStage: 'Complete',
    values: Object.fromEntries(device.values.map(value => [valueId(value), toValueId(nodeId, value)])),
  }
}

function toValueId(nodeId: number, value: VirtualValue): Record<string, unknown> {
  const { endpoint, property, type, unit, lastUpdate, writeable } = value
  return {
    id: `${nodeId}-${valueId(value)}`,
    nodeId,
    commandClass: commandClassNumber(value.commandClass),
    endpoint,
    property,
    propertyName: property,
    type,
    readable: true,
    writeable,
    label: property,
    ...(unit && { unit }),
    value: value.value,
    lastUpdate,
  }
}

function valueId({ commandClass, endpoint, property }: VirtualValue): string {
  return `${commandClassNumber(commandClass)}-${endpoint}-${property}`
}
