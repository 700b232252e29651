import type { ToolResult } from '../call/tool-result.ts'
import type { CallEvent } from '../executor/observers.ts'
import { cleaner, safeValue } from '../logging/safe-value.ts'
import { hasManyNames } from '../runtime/names-of.ts'
import { type PlainLimits, plainCopy } from '../runtime/plain-value.ts'
import { describeThrown } from '../runtime/quietly.ts'
import { BATCH_CALLS, SMALL_VALUE } from './limits.ts'

/**
 * Calls on their way to the writer, in a form that is fast to fill and to transfer. Values are copied when the call
 * ends, so that later changes by their owner have no effect.
 */
export interface Batch {
  calls: number
  /** NUMBERS for each call, see `addCall`. */
  numbers: Float64Array<ArrayBuffer>
  /** For each call: id, arguments, outcome and rest, without absent ones. */
  values: Plain[]
  /** Numbers for recurring texts, such as names of tools. */
  names: Map<string, number>
  /** The servers of tools, by tool name. */
  servers: Map<string, string | undefined>
  characters: number
  /** Added to the serial of each call. */
  firstSerial: number
}

export const NUMBERS = 13

/** Fields that few calls have. */
export interface Rest {
  code?: string
  repairs?: unknown
  notes?: Readonly<Record<string, unknown>>
}

/** A small, flat value: a scalar, or a record of scalars. */
type Plain = Scalar | Record<string, Scalar | undefined>
type Scalar = string | number | boolean | null

/* How a value is kept in a batch. */
export const ABSENT = 0
/** The value itself, not yet cleaned. */
export const PLAIN = 1
/** Its JSON, not yet cleaned. */
const RAW = 2
/** Its JSON, cleaned. */
export const CLEAN = 3

/** A batch as sent to the other thread: all values in one text, at half the cost of one text each. */
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

/** Adds an ended call. Written without creating objects: this runs on every call. */
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

/** How `keptOf` kept its last value. */
let kind = ABSENT

/** Small values are cleaned later, by the writer: cleaning costs as much as a call. */
function keptOf(value: unknown): Plain {
  try {
    kind = PLAIN
    const copy = flatCopy(value)
    if (copy !== undefined) return copy
    // Too long for a flat copy is too long for JSON; listing many names again would take milliseconds.
    if (isUsedUp()) return cleaned(value)
    kind = RAW
    const text = isSmall(value, SMALL_VALUE.depth) ? JSON.stringify(value) : undefined
    // Getters may have returned something else the second time.
    if (text !== undefined && text.length <= 8 * SMALL_VALUE.characters) return text
  } catch {
    // Handled more carefully below.
  }
  return cleaned(value)
}

function cleaned(value: unknown): string {
  kind = CLEAN
  return cleanText(value)
}

function isUsedUp(): boolean {
  return charactersLeft < 0 || valuesLeft < 0
}

/** A copy of a small, flat value; `undefined` for anything else. May throw. */
function flatCopy(value: unknown): Plain | undefined {
  if (typeof value !== 'object' || value === null)
    return value !== undefined && isSmall(value, 0) ? (value as Scalar) : undefined
  if (Array.isArray(value) || Object.getPrototypeOf(value) !== Object.prototype) return undefined
  if (hasManyNames(value)) valuesLeft = -1
  if (isUsedUp()) return undefined
  const copy: Record<string, Scalar | undefined> = {}
  for (const key in value) {
    const entry = (value as Record<string, unknown>)[key]
    charactersLeft -= key.length
    if (key === '__proto__' || !isSmall(entry, 0)) return undefined
    copy[key] = entry as Scalar | undefined
  }
  return copy
}

/** Values within these limits are kept whole, except for secrets, so that the call can be repeated. */
const WHOLE: PlainLimits = {
  maxDepth: 64,
  maxEntries: Number.POSITIVE_INFINITY,
  maxBytes: 16 * 1024,
  maxValues: 2_000,
  isWhole: true,
}

/** A value as JSON, without secrets; a large one is shortened as in a log. Never throws. */
export function cleanText(value: unknown): string {
  try {
    // Counted first: cleaning 2,000 values takes milliseconds, wasted if there are more.
    const copy = isWithin(value) ? plainCopy(value, { ...WHOLE, cleaner }) : undefined
    const isWhole = copy?.isComplete && copy.bytes <= WHOLE.maxBytes
    return JSON.stringify(isWhole ? copy.value : safeValue(value)) ?? 'null'
  } catch (error) {
    return JSON.stringify(`[unreadable: ${describeThrown(error)}]`)
  }
}

function isWithin(value: unknown): boolean {
  const { isComplete, bytes } = plainCopy(value, WHOLE)
  return isComplete && bytes <= WHOLE.maxBytes
}

let charactersLeft = 0
let valuesLeft = 0

/** Whether short JSON can express all of it. May throw. */
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
  // On a large value, even starting `for … in` takes milliseconds.
  if (Array.isArray(value) ? value.length > valuesLeft : hasManyNames(value)) return false
  for (const key in value) {
    charactersLeft -= key.length
    if (key === 'toJSON' || !isSmall(value[key], depth)) return false
  }
  return true
}
