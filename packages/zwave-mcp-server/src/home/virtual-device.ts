import type { NodeStatus } from '../zwave/device.ts'
import { MAX_ZWAVE_LEVEL, RESTORE_LEVEL } from '../zwave/levels.ts'
import type { Primitive } from '../zwave/payload.ts'
import { nodePath, type TopicStyle, type ValueAddress, valuePath } from '../zwave/topics.ts'
import { makeValues, type ValueDescription } from './virtual-values.ts'

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

/** How a sensor drifts: one step every `everyMs`, back and forth between two bounds. */
export interface Drift {
  readonly step: number
  readonly min: number
  readonly max: number
  readonly everyMs: number
}

/** A value of a virtual device. As in Z-Wave, a switch has two: target and current. */
export interface VirtualValue extends ValueAddress {
  value: Primitive | undefined
  lastUpdate: number
  readonly type: 'boolean' | 'number'
  readonly writeable: boolean
  readonly unit?: string
  readonly drift?: Drift
  readonly min?: number
  readonly max?: number
  readonly states?: ReadonlyArray<{ readonly text: string; readonly value: number }>
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

  /** Acts on a command; returns the values to report. */
  act(target: VirtualValue, wanted: Primitive, now: number): VirtualValue[] {
    const changed = this.values.filter(
      ({ commandClass, endpoint, property, key }) =>
        commandClass === target.commandClass &&
        endpoint === target.endpoint &&
        key === target.key &&
        role(property) === role(target.property),
    )
    const value = this.#meant(target, wanted)
    for (const item of changed) Object.assign(item, { value, lastUpdate: now })
    return changed
  }

  #meant({ type, commandClass, endpoint }: VirtualValue, wanted: Primitive): Primitive {
    if (type === 'boolean') return Boolean(wanted)
    return commandClass === 'switch_multilevel' ? this.#level(endpoint, Number(wanted)) : Number(wanted)
  }

  #level(endpoint: number, wanted: number): number {
    const level = wanted === RESTORE_LEVEL ? (this.#lastLevels.get(endpoint) ?? MAX_ZWAVE_LEVEL) : wanted
    const bounded = Math.max(0, Math.min(MAX_ZWAVE_LEVEL, Math.round(level)))
    if (bounded > 0) this.#lastLevels.set(endpoint, bounded)
    return bounded
  }
}

/** The part of the name that pairs a target with its current value: `targetValue` and `currentValue`. */
function role(property: string): string {
  return property.replace(/^(?:target|current)/, '')
}
