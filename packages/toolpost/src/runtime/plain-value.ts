import { namesOf } from './names-of.ts'

/** How much of a value is copied. Anything that is left out is said in the copy. */
export interface PlainLimits {
  maxDepth: number
  /** Of one list or object. */
  maxEntries: number
  /** Beyond it values are counted and no longer copied. */
  maxBytes: number
  /** Beyond it nothing is looked at any more: a value that refers to itself twice has no end. */
  maxValues: number
  /** Takes out what must not be shown; everything is shown if left out. */
  cleaner?: Cleaner
}

/** Short texts of a list or an object that the cleaner changed, as they were; by their place or the key that is shown. */
type Originals = Map<string | number, string>

/** What is asked about every part of a copy. `list` and `object` are given copies, and may change them. */
export interface Cleaner {
  text(text: string): string
  key(key: string): { shown: string; isSecret: boolean }
  /** What is shown of the value of a secret key. */
  secret(value: unknown): unknown
  list(values: unknown[], originals: Originals | undefined): void
  object(entries: Record<string, unknown>, originals: Originals | undefined): void
}

export interface PlainCopy {
  value: unknown
  /** About as many as it has as JSON, counted up to `maxValues` values. */
  bytes: number
  isComplete: boolean
}

/**
 * A copy of any value as plain JSON data. Never throws, whatever getters, proxies and `toJSON` do. Beyond JSON: NaN,
 * Infinity and BigInt as text, Map and Set as lists, an Error as its name and message, bytes as their number.
 */
export function plainCopy(value: unknown, limits: PlainLimits): PlainCopy {
  const copier = new Copier(limits)
  return { value: copier.copy(value), bytes: copier.bytes, isComplete: copier.values <= limits.maxValues }
}

/** What is written for an object: a list, a record, or a text or number; itself if it is a record. May throw. */
export function plainForm(value: object): unknown {
  const { toJSON } = value as { toJSON?: unknown }
  if (Array.isArray(value) || (Object.getPrototypeOf(value) === Object.prototype && toJSON === undefined))
    return value
  if (value instanceof Map || value instanceof Set) return listOf(value)
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (value instanceof Date && Number.isNaN(value.getTime())) return 'Invalid Date'
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (value instanceof String || value instanceof Number || value instanceof Boolean) return value.valueOf()
  return typeof toJSON === 'function' ? toJSON.call(value) : value
}

/** Of a longer number, the decimal digits take a time that grows with its square. */
const MAX_HEX_DIGITS = 10_000
const DIGITS_PER_HEX_DIGIT = Math.log10(16)

/** A whole number of any length as text; of a very long one only how long it is. */
export function digitsOf(value: bigint): string {
  const { length } = value.toString(16)
  if (length <= MAX_HEX_DIGITS) return String(value)
  return `[a whole number of about ${Math.round(length * DIGITS_PER_HEX_DIGIT)} digits]`
}

/** Longer ones are not copied to be written. */
const MAX_LISTED = 50_000

function listOf(values: ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>): unknown[] {
  if (values.size <= MAX_LISTED) return [...values]
  const list: unknown[] = []
  for (const value of values) if (list.push(value) === MAX_LISTED) break
  return [...list, `… ${values.size - MAX_LISTED} more`]
}

const LEFT_OUT = '[…]'

/** Longer texts are no names, and no lines of a key. */
const MAX_ORIGINAL = 1_000

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_ORIGINAL
}

interface Copied {
  entries: Record<string, unknown>
  originals: Originals | undefined
}

function noted(originals = new Map<string | number, string>(), at: string | number, text: string): Originals {
  return originals.set(at, text)
}

class Copier {
  bytes = 0
  values = 0
  readonly #limits: PlainLimits
  readonly #cleaner: Cleaner | undefined
  /** The objects around the one that is being copied. */
  readonly #path: object[] = []

  constructor(limits: PlainLimits) {
    this.#limits = limits
    this.#cleaner = limits.cleaner
  }

  copy(value: unknown): unknown {
    this.values++
    switch (typeof value) {
      case 'string':
        return this.#text(value)
      case 'number':
        this.bytes += 5
        return Number.isFinite(value) ? value : String(value)
      case 'bigint':
        return this.#text(digitsOf(value))
      case 'object':
        return value === null ? this.#null() : this.#object(value)
      case 'function':
      case 'symbol':
        return `[${typeof value}]`
      default:
        this.bytes += 5
        return value
    }
  }

  #null(): null {
    this.bytes += 4
    return null
  }

  #text(text: string): string {
    this.bytes += text.length + 2
    if (this.bytes > this.#limits.maxBytes) return LEFT_OUT
    return this.#cleaner ? this.#cleaner.text(text) : text
  }

  #object(value: object): unknown {
    const path = this.#path
    this.bytes += 2
    if (path.length >= this.#limits.maxDepth) return LEFT_OUT
    if (path.includes(value)) return '[circular]'
    path.push(value)
    try {
      return this.#open(value)
    } catch (error) {
      return this.#text(unreadable(error))
    } finally {
      path.pop()
    }
  }

  #open(value: object): unknown {
    // A large one is not written out: only so much of it is copied.
    if (value instanceof Map || value instanceof Set) return this.#list(value, value.size)
    const form = plainForm(value)
    if (form !== value) return this.copy(form)
    return Array.isArray(value) ? this.#list(value, value.length) : this.#entries(value)
  }

  #list(values: Iterable<unknown>, length: number): unknown[] {
    const result: unknown[] = []
    let originals: Originals | undefined
    for (const value of values) {
      if (this.#isFull(result.length)) {
        result.push(`… ${length - result.length} more`)
        break
      }
      this.bytes++
      const copy = this.copy(value) ?? null
      if (this.#cleaner && isShort(value) && copy !== value)
        originals = noted(originals, result.length, value)
      result.push(copy)
    }
    this.#cleaner?.list(result, originals)
    return result
  }

  #entries(value: object): Record<string, unknown> {
    const copied: Copied = { entries: {}, originals: undefined }
    const keys = namesOf(value)
    for (let taken = 0; taken < keys.length; taken++) {
      if (this.#isFull(taken)) {
        copied.entries['…'] = `${keys.length - taken} more`
        break
      }
      this.#entry(value as Record<string, unknown>, keys[taken] as string, copied)
    }
    this.#cleaner?.object(copied.entries, copied.originals)
    return copied.entries
  }

  #isFull(entries: number): boolean {
    return entries >= this.#limits.maxEntries || this.values > this.#limits.maxValues
  }

  /** Without what JSON leaves out of an object. */
  #entry(from: Record<string, unknown>, key: string, to: Copied): void {
    this.bytes += key.length + 4
    const entry = this.#read(from, key)
    if (entry === undefined || typeof entry === 'function' || typeof entry === 'symbol') return
    const known = this.#cleaner?.key(key)
    const value = known?.isSecret ? this.#cleaner?.secret(entry) : this.copy(entry)
    const shown = known ? known.shown : key
    if (known && isShort(entry) && value !== entry) to.originals = noted(to.originals, shown, entry)
    if (shown === '__proto__') Object.defineProperty(to.entries, shown, { value, enumerable: true })
    else to.entries[shown] = value
  }

  #read(from: Record<string, unknown>, key: string): unknown {
    try {
      return from[key]
    } catch (error) {
      return this.#text(unreadable(error))
    }
  }
}

/** What is shown for a value that throws when it is looked at. So may the error. */
export function unreadable(error: unknown): string {
  try {
    const { message } = error as { message?: unknown }
    return typeof message === 'string' ? `[unreadable: ${message}]` : '[unreadable]'
  } catch {
    return '[unreadable]'
  }
}
