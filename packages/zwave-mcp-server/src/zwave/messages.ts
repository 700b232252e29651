import { commandClassName, type ValueAddress } from './command-classes.ts'

export type Primitive = string | number | boolean

/** What is known about a value. `value` is absent until the device has reported one. */
interface Reported {
  readonly value?: Primitive
  /** When the device reported it, in ms since 1970; absent if unknown. */
  readonly time?: number
  readonly unit?: string
}

/** A value or status as published. */
export interface Payload extends Reported {
  readonly nodeId?: number
  /** Of a node: `Alive`, `Dead`, … */
  readonly status?: unknown
}

/** The last known value at one address of a device. */
export interface DeviceValue extends ValueAddress, Reported {
  readonly min?: number
  readonly max?: number
  /** The numbers it can be set to. */
  readonly choices?: readonly number[]
  /** The topic it was heard on, below the prefix; undefined if known from the gateway's list alone. */
  readonly topic?: string
}

/** As Z-Wave JS reports it; `Unknown` until it has. */
export const STATUSES = ['Alive', 'Awake', 'Asleep', 'Dead', 'Unknown'] as const
export type NodeStatus = (typeof STATUSES)[number]

/** A node as the gateway's `getNodes` lists it. Virtual nodes are left out. */
export interface Node {
  readonly id: number
  readonly name?: string
  readonly location?: string
  readonly status: NodeStatus
  /** The stick itself. */
  readonly isController?: boolean
  /** Whether its device class is a motor, as in blinds. */
  readonly isMotor?: boolean
  readonly values: readonly DeviceValue[]
}

/** A gateway scene: values that are set together. */
export interface Scene {
  readonly id: number
  readonly name: string
  readonly gateway: string
}

/** Far more than a gateway writes for one value. */
const MAX_LENGTH = 64 * 1024
const MAX_SHOWN_LENGTH = 200
const MAX_SCENES = 1_000
const MULTILEVEL_SWITCH = 17
const WINDOW_COVERING = 9
const MOTORS = [3, 5, 6, 7]

/**
 * Parses the payload types of Z-Wave JS UI: "JSON time-value", "entire Z-Wave value object" and "just value".
 * A string is the reason why it cannot.
 */
export function parsePayload(text: string): Payload | string {
  if (text.length > MAX_LENGTH) return 'it is too long'
  const json = parseJson(text)
  if (json === undefined) return 'it is not JSON'
  if (isPrimitive(json)) return parseReported({ value: json })
  if (!isRecord(json) || (!('value' in json) && typeof json.time !== 'number')) return 'it has no value'
  const { nodeId, status, time = json.lastUpdate } = json
  return {
    ...parseReported({ ...json, time }),
    ...(typeof nodeId === 'number' && { nodeId }),
    ...(status !== undefined && { status }),
  }
}

function parseReported({ value, time, unit }: Record<string, unknown>): Reported {
  const isTime = typeof time === 'number' && Math.abs(time) <= 8.64e15
  return {
    ...(isPrimitive(value) && { value: typeof value === 'string' ? cleanText(value) : value }),
    ...(isTime && { time }),
    ...(typeof unit === 'string' && { unit: cleanText(unit) }),
  }
}

/** The nodes in the result of `getNodes`; undefined if it is not a list. */
export function parseNodes(result: unknown): Node[] | undefined {
  return Array.isArray(result) ? result.flatMap(parseNode) : undefined
}

function parseNode(node: unknown): Node[] {
  if (!isRecord(node) || typeof node.id !== 'number' || node.virtual === true) return []
  const { id, name, loc, deviceClass } = node
  const { generic, specific } = isRecord(deviceClass) ? deviceClass : {}
  const isMotor =
    generic === WINDOW_COVERING || (generic === MULTILEVEL_SWITCH && MOTORS.includes(Number(specific)))
  return [
    {
      id,
      ...(typeof name === 'string' && name && { name }),
      ...(typeof loc === 'string' && loc && { location: loc }),
      status: parseStatus(node.status, node.available),
      isController: node.isControllerNode === true,
      isMotor,
      values: isRecord(node.values) ? Object.values(node.values).flatMap(parseValue) : [],
    },
  ]
}

/** The status of a node; a gateway that publishes raw values says only whether it is available. */
export function parseStatus(status: unknown, available: unknown): NodeStatus {
  const known = STATUSES.find(item => item === status)
  if (known) return known
  return available === true ? 'Alive' : available === false && status === undefined ? 'Dead' : 'Unknown'
}

function parseValue(value: unknown): DeviceValue[] {
  if (!isRecord(value) || typeof value.commandClass !== 'number') return []
  const property = value.propertyName ?? value.property
  if (typeof property !== 'string' && typeof property !== 'number') return []
  const { endpoint, propertyKey: key, lastUpdate, min, max, states } = value
  const choices = (Array.isArray(states) ? states : []).map(state => isRecord(state) && state.value)
  return [
    {
      commandClass: commandClassName(value.commandClass),
      endpoint: typeof endpoint === 'number' ? endpoint : 0,
      property: String(property),
      ...((typeof key === 'string' || typeof key === 'number') && { key: String(key) }),
      ...parseReported({ ...value, time: lastUpdate }),
      ...(typeof min === 'number' && { min }),
      ...(typeof max === 'number' && { max }),
      ...(choices.length > 0 && { choices: choices.filter(choice => typeof choice === 'number') }),
    },
  ]
}

/** The scenes in the result of `_getScenes`. */
export function parseScenes(result: unknown, gateway: string): Scene[] {
  if (!Array.isArray(result)) return []
  return result.slice(0, MAX_SCENES).flatMap(scene => {
    if (!isRecord(scene) || typeof scene.sceneid !== 'number' || typeof scene.label !== 'string') return []
    return [{ id: scene.sceneid, name: cleanText(scene.label), gateway }]
  })
}

/** Parses JSON; undefined if it is invalid or `null`, which no gateway publishes. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isPrimitive(value: unknown): value is Primitive {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** Makes foreign text safe to show: one line, bounded, no control characters or bidi overrides. */
export function cleanText(text: string): string {
  const plain = text
    .slice(0, MAX_SHOWN_LENGTH)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
  return plain.toWellFormed().trim()
}
