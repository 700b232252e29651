import { readData } from '../data.ts'

export type Primitive = string | number | boolean

/** Where a value lives on its device. `key` is the property key, which few values have. */
export interface ValueAddress {
  readonly commandClass: string
  readonly endpoint: number
  readonly property: string
  readonly key?: string
}

/** What is known about a value: absent until the device has reported one. `time` is in ms since 1970. */
interface Reported {
  readonly value?: Primitive
  readonly time?: number
  readonly unit?: string
}

/** A value or status as published; the status of a node is `Alive`, `Dead`, … */
export interface Payload extends Reported {
  readonly nodeId?: number
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

export type Node = NonNullable<ReturnType<typeof parseNodes>>[number]
export type Scene = ReturnType<typeof parseScenes>[number]
export type ActuatorKind = 'switch' | 'dimmer' | 'cover' | 'lock'

/** How the values of a command class are named, typed and phrased; `number` as in the API and in ValueID topics. */
interface CommandClass {
  readonly number: number
  /** In named topics, if that is not its name here. */
  readonly topic?: string
  /** The property that is shown (default: all), and the type it must have; anything else is ignored. */
  readonly property?: string
  readonly type?: 'number' | 'boolean'
  /** What can be switched has a kind, a property that accepts commands, and perhaps only some keys. */
  readonly kind?: ActuatorKind
  readonly target?: string
  readonly keys?: readonly string[]
  /** The name of a reading; default: its property. `names` has those of certain keys and properties. */
  readonly name?: string
  readonly namedByKey?: boolean
  readonly names?: Readonly<Record<string, string>>
  /** Words for values, the first whose pattern fits `<property>[/<key>]`. Without any, it is a measurement with a unit. */
  readonly states?: readonly {
    readonly of: string
    /** Of the reading, if not as above. */
    readonly name?: string
    readonly words: Readonly<Record<string, string>>
    readonly otherwise?: string
  }[]
}

const MAX_PAYLOAD_CHARACTERS = 64 * 1024
const MAX_SHOWN_CHARACTERS = 200
/** Device classes: multilevel switches that are motors, and window coverings. */
const MULTILEVEL_SWITCH = 17
const WINDOW_COVERING = 9
const MOTORS = [3, 5, 6, 7]

/** The one table of command classes, in the order in which they claim an endpoint: numbers, topics, types, words. */
const { classes, units, refusals } = readData<{
  classes: Readonly<Record<string, CommandClass>>
  refusals: Readonly<Record<string, string>>
  units: ReadonlyArray<{ readonly of: string; readonly unit: string }>
}>('command-classes.json')
export const CLASS_ORDER = Object.keys(classes)

/** Why Z-Wave JS rejected a command, from its answer; of the statuses, 255 and 254 mean success, 1 in progress. */
export function rejection(answer: unknown): string | undefined {
  return isRecord(answer) ? refusals[String(answer.status)] : undefined
}

export function commandClass(name: string): CommandClass | undefined {
  return Object.hasOwn(classes, name) ? classes[name] : undefined
}

/** The name of a command class; unknown ones get the gateway's own fallback name. */
export function commandClassName(number: number): string {
  return CLASS_ORDER.find(name => classes[name]?.number === number) ?? `unknownClass_${number}`
}

/** The number of a command class, by its name here or in a topic. */
export function commandClassNumber(name: string): number | undefined {
  const [, number] = /^unknownClass_(\d+)$/.exec(name) ?? []
  return number ? Number(number) : commandClass(name)?.number
}

/** Whether a value has the type that its address requires. */
export function hasRightType({ commandClass: name, property }: ValueAddress, value: Primitive): boolean {
  const { type, property: shown } = commandClass(name) ?? {}
  return type === undefined || property !== shown || typeof value === type
}

/** What a sensor reading is called, its unit and its words. Undefined: it is not a reading. */
export function describeReading(address: ValueAddress & Reported) {
  const { commandClass: className, property, key, value } = address
  const table = commandClass(className)
  if (!table || table.target || (table.property ?? property) !== property) return undefined
  const place = key === undefined ? property : `${property}/${key}`
  const states = table.states?.find(({ of }) => new RegExp(of, 'i').test(place))
  const isBoolean = states?.words.true !== undefined
  if (table.states && (!states || (typeof value === 'boolean' && !isBoolean))) return undefined
  const name = states?.name ?? readingName(table, address)
  const usual = units.find(({ of }) => new RegExp(of, 'i').test(name))?.unit ?? null
  const unit = states ? null : address.unit || usual
  if (value === undefined) return { name, unit, text: 'unknown' }
  if (!states) return { name, unit, text: unit ? `${value} ${unit}` : String(value) }
  const word = states.words[String(isBoolean ? Boolean(value) : Number(value))]
  return { name, unit, text: (word ?? states.otherwise ?? '{value}').replace('{value}', String(value)) }
}

function readingName(table: CommandClass, { key, property }: ValueAddress): string {
  const { names = {}, name, namedByKey } = table
  const known = key ?? property
  if (Object.hasOwn(names, known)) return names[known] ?? known
  if (name) return name.replace('{key}', String(Number(key)))
  return (namedByKey ? known : property).replaceAll('_', ' ').replaceAll('-', '/').toLowerCase()
}

/** The modes of a thermostat by number, as words. */
export const THERMOSTAT_MODES = classes.thermostat_mode?.states?.[0]?.words ?? {}

/**
 * Parses the payload types of Z-Wave JS UI: "JSON time-value", "entire Z-Wave value object" and "just value".
 * A string is the reason why it cannot.
 */
export function parsePayload(text: string): Payload | string {
  if (text.length > MAX_PAYLOAD_CHARACTERS) return 'it is too long'
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

/** The nodes in the result of `getNodes`, without virtual ones; undefined if it is not a list. */
export function parseNodes(result: unknown) {
  if (!Array.isArray(result)) return undefined
  const nodes = result.filter(node => isRecord(node) && typeof node.id === 'number' && node.virtual !== true)
  return nodes.map(({ id, name, loc, values, deviceClass, ...node }) => {
    const { generic, specific } = isRecord(deviceClass) ? deviceClass : {}
    const isMultilevelMotor = generic === MULTILEVEL_SWITCH && MOTORS.includes(Number(specific))
    return {
      nodeId: Number(id),
      name: typeof name === 'string' ? name : '',
      location: typeof loc === 'string' ? loc : '',
      status: parseStatus(node.status, node.available),
      /** The stick itself. */
      isController: node.isControllerNode === true,
      /** Whether its device class is a motor, as in blinds. */
      isMotor: generic === WINDOW_COVERING || isMultilevelMotor,
      values: isRecord(values) ? Object.values(values).flatMap(parseValue) : [],
    }
  })
}

/** The status of a node; a gateway that publishes raw values says only whether it is available. */
export function parseStatus(status: unknown, available: unknown): NodeStatus {
  const raw = available === true ? 'Alive' : available === false && status === undefined ? 'Dead' : 'Unknown'
  return STATUSES.find(item => item === status) ?? raw
}

function parseValue(value: unknown): DeviceValue[] {
  if (!isRecord(value) || typeof value.commandClass !== 'number') return []
  const { property = '', propertyName = property, endpoint, propertyKey: key, lastUpdate, min, max } = value
  const choices = (Array.isArray(value.states) ? value.states : []).map(state => Object(state).value)
  return [
    {
      commandClass: commandClassName(value.commandClass),
      endpoint: typeof endpoint === 'number' ? endpoint : 0,
      property: String(propertyName),
      ...((typeof key === 'string' || typeof key === 'number') && { key: String(key) }),
      ...parseReported({ ...value, time: lastUpdate }),
      ...(typeof min === 'number' && { min }),
      ...(typeof max === 'number' && { max }),
      ...(choices.length > 0 && { choices: choices.filter(choice => typeof choice === 'number') }),
    },
  ]
}

/** The scenes in the result of `_getScenes`. */
export function parseScenes(result: unknown): { id: number; name: string }[] {
  if (!Array.isArray(result)) return []
  return result.flatMap(scene => {
    if (!isRecord(scene) || typeof scene.sceneid !== 'number' || typeof scene.label !== 'string') return []
    return [{ id: scene.sceneid, name: cleanText(scene.label) }]
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
    .slice(0, MAX_SHOWN_CHARACTERS)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
  return plain.toWellFormed().trim()
}
