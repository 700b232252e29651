import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { cleaner, safeValue } from '../logging/safe-value.ts'
import { type PlainLimits, plainCopy } from '../runtime/plain-value.ts'
import { describeThrown } from '../runtime/quietly.ts'
import { BATCH_CALLS, SMALL_VALUE } from './limits.ts'

/**
 * Calls on their way to the writer, in a form that is quick to fill and to hand over. Values are copied when the call
 * ends, so that what their owner does with them later changes nothing.
 */
export interface Batch {
  calls: number
  /** NUMBERS for each call, see `addCall`. */
  numbers: Float64Array<ArrayBuffer>
  /** For each call: id, arguments, outcome and rest, without those that are absent. */
  values: Plain[]
  /** What comes again and again, such as names of tools, by its number. */
  names: Map<string, number>
  /** The servers of the tools, by name. */
  servers: Map<string, string | undefined>
  characters: number
  /** What the numbers of the calls are counted from. */
  firstSerial: number
}

export const NUMBERS = 13

/** What few calls have. */
export interface Rest {
  code?: string
  repairs?: unknown
  notes?: Readonly<Record<string, unknown>>
}

/** What is small and flat: a scalar, or a record of scalars. */
type Plain = Scalar | Record<string, Scalar | undefined>
type Scalar = string | number | boolean | null

/* How a value is kept in a batch. */
export const ABSENT = 0
/** As it is, still to be cleaned. */
export const PLAIN = 1
/** Its JSON, still to be cleaned. */
const RAW = 2
/** Its JSON, cleaned. */
export const CLEAN = 3

/** A batch as it goes to the other thread: all values in one text, which costs half of what a text for each does. */
export type PackedBatch = Omit<Batch, 'values'> & { text: string }

export function packed({ values, ...rest }: Batch): PackedBatch {
  return { ...rest, text: JSON.stringify(values) }
}

export function unpacked({ text, ...rest }: PackedBatch): Batch {
  return { ...rest, values: JSON.parse(text) }
}

export function newBatch(): Batch {
  const numbers = new Float64Array(BATCH_CALLS * NUMBERS)
  return {
    calls: 0,
    numbers,
    values: [],
    names: new Map(),
    servers: new Map(),
    characters: 0,
    firstSerial: 0,
  }
}

/** Takes the ended call over. By hand, and without objects: this runs in every call. */
export function addCall(batch: Batch, event: CallEvent, result: ToolResult): void {
  const { call } = event
  const { numbers } = batch
  const at = batch.calls++ * NUMBERS
  numbers[at] = event.serial
  numbers[at + 1] = event.startedAt
  numbers[at + 2] = result.execution_time_ms
  numbers[at + 3] = result.waited_ms ?? 0
  numbers[at + 4] = numberOf(call.name, batch)
  numbers[at + 5] = numberOf(event.origin ?? 'code', batch)
  numbers[at + 6] = numberOf(event.caller ?? '', batch)
  numbers[at + 7] = event.stages?.foundMs ?? Number.NaN
  numbers[at + 8] = event.stages?.fittedMs ?? Number.NaN
  numbers[at + 9] = addValue(batch, call.id)
  numbers[at + 10] = addValue(batch, call.args)
  numbers[at + 11] = addValue(batch, result.success ? result.result : result.error)
  numbers[at + 12] = addValue(batch, restOf(event, result))
}

function numberOf(name: string, { names }: Batch): number {
  let number = names.get(name)
  if (number === undefined) {
    number = names.size
    names.set(name, number)
  }
  return number
}

function addValue(batch: Batch, value: unknown): number {
  if (value === undefined) return ABSENT
  charactersLeft = SMALL_VALUE.characters
  valuesLeft = SMALL_VALUE.values
  const kept = keptOf(value)
  batch.values.push(kept)
  batch.characters += kind === PLAIN ? SMALL_VALUE.characters - charactersLeft : (kept as string).length
  return kind
}

function restOf({ notes }: CallEvent, result: ToolResult): Rest | undefined {
  if (result.success && !notes && !result.repairs) return undefined
  const rest: Rest = {}
  if (!result.success) rest.code = result.code
  if (result.repairs) rest.repairs = result.repairs
  if (notes) rest.notes = notes
  return rest
}

/** How `keptOf` keeps its last value. */
let kind = ABSENT

/** What is small is cleaned later, by the writer: cleaning costs as much as a call. */
function keptOf(value: unknown): Plain {
  try {
    kind = PLAIN
    const copy = flatCopy(value)
    if (copy !== undefined) return copy
    kind = RAW
    const text = isSmall(value, SMALL_VALUE.depth) ? JSON.stringify(value) : undefined
    // Getters may have given something else the second time.
    if (text !== undefined && text.length <= 8 * SMALL_VALUE.characters) return text
  } catch {
    // Looked at more carefully below.
  }
  kind = CLEAN
  return cleanText(value)
}

/** A copy of what is small and flat, `undefined` of everything else. May throw. */
function flatCopy(value: unknown): Plain | undefined {
  if (typeof value !== 'object' || value === null)
    return value !== undefined && isSmall(value, 0) ? (value as Scalar) : undefined
  if (Array.isArray(value) || Object.getPrototypeOf(value) !== Object.prototype) return undefined
  const copy: Record<string, Scalar | undefined> = {}
  for (const key in value) {
    const entry = (value as Record<string, unknown>)[key]
    charactersLeft -= key.length
    if (key === '__proto__' || !isSmall(entry, 0)) return undefined
    copy[key] = entry as Scalar | undefined
  }
  return copy
}

/** What is kept whole: without secrets, and otherwise as it was, so that the call can be repeated. */
const WHOLE: PlainLimits = {
  maxDepth: 64,
  maxEntries: Number.POSITIVE_INFINITY,
  maxBytes: 16 * 1024,
  maxValues: 2_000,
  cleaner,
}

/** A value as JSON, without secrets; a large one is shortened as in a log. Never throws. */
export function cleanText(value: unknown): string {
  try {
    const copy = plainCopy(value, WHOLE)
    const isWhole = copy.isComplete && copy.bytes <= WHOLE.maxBytes
    return JSON.stringify(isWhole ? copy.value : safeValue(value)) ?? 'null'
  } catch (error) {
    return JSON.stringify(`[unreadable: ${describeThrown(error)}]`)
  }
}

let charactersLeft = 0
let valuesLeft = 0

/** Whether JSON says all of it, in a few characters. May throw. */
function isSmall(value: unknown, depth: number): boolean {
  if (--valuesLeft < 0) return false
  switch (typeof value) {
    case 'string':
      charactersLeft -= value.length
      return charactersLeft >= 0
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
    case 'undefined':
      return true
    case 'object':
      return value === null || (depth > 0 && areSmall(value as Record<string, unknown>, depth - 1))
    default:
      return false
  }
}

function areSmall(value: Record<string, unknown>, depth: number): boolean {
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) return false
  for (const key in value) {
    charactersLeft -= key.length
    if (key === 'toJSON' || !isSmall(value[key], depth)) return false
  }
  return true
}
