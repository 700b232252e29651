import { readData } from '../data.ts'
import type { Primitive } from './messages.ts'

/** How the values of a command class are named, typed and phrased; `data/command-classes.json` has them all. */
interface CommandClass {
  /** In the gateway's API and in ValueID topics. */
  readonly number: number
  /** In named topics, if that is not its name here. */
  readonly topic?: string
  /** The property that is shown; default: all. */
  readonly property?: string
  /** The type that `property` must have; anything else is a mistake and is ignored. */
  readonly type?: 'number' | 'boolean'
  /** The property that accepts commands: only what can be switched has one. */
  readonly target?: string
  /** The name of a reading; default: its property. `names` has those of certain keys and properties. */
  readonly name?: string
  readonly namedByKey?: boolean
  readonly names?: Readonly<Record<string, string>>
  /** Words for values, the first whose pattern fits the key or property. Without any, it is a measurement with a unit. */
  readonly states?: readonly States[]
}

interface States {
  readonly of: string
  readonly words: Readonly<Record<string, string>>
  readonly otherwise?: string
}

interface Table {
  readonly classes: Readonly<Record<string, CommandClass>>
  readonly units: ReadonlyArray<{ readonly of: string; readonly unit: string }>
}

/** Where a value lives on its device. `key` is the property key, which few values have. */
export interface ValueAddress {
  readonly commandClass: string
  readonly endpoint: number
  readonly property: string
  readonly key?: string
}

const { classes, units } = readData<Table>('command-classes.json')
const names = new Map(Object.entries(classes).map(([name, { number }]) => [number, name]))

export function commandClass(name: string): CommandClass | undefined {
  return Object.hasOwn(classes, name) ? classes[name] : undefined
}

/** The name of a command class; unknown ones get the gateway's own fallback name. */
export function commandClassName(number: number): string {
  return names.get(number) ?? `unknownClass_${number}`
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
export function describeReading(
  address: ValueAddress & { readonly unit?: string; readonly value?: Primitive },
) {
  const { commandClass: className, property, key, value } = address
  const table = commandClass(className)
  if (!table || table.target || (table.property ?? property) !== property) return undefined
  const states = table.states?.find(({ of }) => new RegExp(of, 'i').test(key ?? property))
  const isBoolean = states?.words.true !== undefined
  if (table.states && (!states || (typeof value === 'boolean' && !isBoolean))) return undefined
  const name = nameOf(table, address)
  const unit = states
    ? null
    : address.unit || (units.find(({ of }) => new RegExp(of, 'i').test(name))?.unit ?? null)
  if (value === undefined) return { name, unit, text: 'unknown' }
  if (!states) return { name, unit, text: unit ? `${value} ${unit}` : String(value) }
  const text =
    states.words[String(isBoolean ? Boolean(value) : Number(value))] ?? states.otherwise ?? '{value}'
  return { name, unit, text: text.replace('{value}', String(value)) }
}

function nameOf({ names = {}, name, namedByKey }: CommandClass, { key, property }: ValueAddress): string {
  const known = key ?? property
  if (Object.hasOwn(names, known)) return names[known] ?? known
  if (name) return name.replace('{key}', String(Number(key)))
  return (namedByKey ? known : property).replaceAll('_', ' ').replaceAll('-', '/').toLowerCase()
}

/** The words for the values of a class that has only one set of them, e.g. the modes of a thermostat. */
export function sayValue(className: string, value: number): string {
  const address = { commandClass: className, endpoint: 0, property: commandClass(className)?.property ?? '' }
  return describeReading({ ...address, value })?.text ?? String(value)
}
