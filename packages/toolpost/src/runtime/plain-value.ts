/** How much of a value is copied. The copy notes anything left out. */
export interface PlainLimits {
  maxDepth: number
  /** Per list or object. */
  maxEntries: number
  /** Beyond this, values are counted but no longer copied. */
  maxBytes: number
  /** Beyond this, reading stops: a value that refers to itself twice is endless. */
  maxValues: number
  /** All or nothing: no copy is made if it would exceed `maxBytes`. */
  isWhole?: boolean
  /** Removes secrets; everything is shown if left out. */
  cleaner?: Cleaner
}

/** Removes secrets from the texts and keys of a copy. */
export interface Cleaner {
  text(text: string): string
  key(key: string): string
  /** What is shown for the value of a secret key; `undefined` for any other key. */
  secret(key: string, value: unknown): unknown
}

export interface PlainCopy {
  value: unknown
  /** Approximate size as JSON, counted up to `maxValues` values. */
  bytes: number
  isComplete: boolean
}

/**
 * Copies any value as plain JSON data. Never throws, whatever getters, proxies and `toJSON` do. Beyond JSON: NaN,
 * Infinity and BigInt as text, Map and Set as lists, an Error as its name and message, bytes as a byte count.
 */
export function plainCopy(value: unknown, limits: PlainLimits): PlainCopy {
  const copier = new Copier(limits)
  return { value: copier.copy(value), bytes: copier.bytes, isComplete: copier.values <= limits.maxValues }
}

/** The value to write for an object: a list, a record, text or a number; a plain record is returned as is. May throw. */
function plainForm(value: object): unknown {
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

/** Converting a longer number to decimal takes quadratic time. */
const MAX_HEX_DIGITS = 10_000
const DIGITS_PER_HEX_DIGIT = Math.log10(16)

/** An integer of any length as text; for a very long one only its length. */
function digitsOf(value: bigint): string {
  const { length } = value.toString(16)
  if (length <= MAX_HEX_DIGITS) return String(value)
  return `[an integer of about ${Math.round(length * DIGITS_PER_HEX_DIGIT)} digits]`
}

/** Longer ones are cut before they are copied. */
const MAX_LISTED = 50_000

function listOf(values: ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>): unknown[] {
  if (values.size <= MAX_LISTED) return [...values]
  const list: unknown[] = []
  for (const value of values) if (list.push(value) === MAX_LISTED) break
  return [...list, `… ${values.size - MAX_LISTED} more`]
}

const LEFT_OUT = '[…]'

class Copier {
  bytes = 0
  values = 0
  readonly #limits: PlainLimits
  readonly #cleaner: Cleaner | undefined
  /** The objects that contain the one being copied. */
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
    // Not via plainForm: only the part within the limits is copied.
    if (value instanceof Map) return this.#list(this.#pairs(value), value.size)
    if (value instanceof Set) return this.#list(value, value.size)
    const form = plainForm(value)
    if (form !== value) return this.copy(form)
    return Array.isArray(value) ? this.#list(value, value.length) : this.#entries(value)
  }

  *#pairs(map: ReadonlyMap<unknown, unknown>): Generator<[unknown, unknown]> {
    for (const [key, value] of map) yield [key, this.#secret(key, value) ?? value]
  }

  #secret(key: unknown, value: unknown): unknown {
    return typeof key === 'string' ? this.#cleaner?.secret(key, value) : undefined
  }

  #list(values: Iterable<unknown>, length: number): unknown[] {
    const result: unknown[] = []
    for (const value of values) {
      if (this.#isFull(result.length)) {
        result.push(`… ${length - result.length} more`)
        break
      }
      this.bytes++
      const copy = this.copy(value) ?? null
      if (!this.#isOnlyCounting) result.push(copy)
    }
    return result
  }

  #entries(value: object): Record<string, unknown> {
    const entries: Record<string, unknown> = {}
    const keys = Object.keys(value)
    for (let taken = 0; taken < keys.length; taken++) {
      if (this.#isFull(taken)) {
        entries['…'] = `${keys.length - taken} more`
        break
      }
      this.#entry(value as Record<string, unknown>, keys[taken] as string, entries)
    }
    return entries
  }

  #isFull(entries: number): boolean {
    return entries >= this.#limits.maxEntries || this.values > this.#limits.maxValues
  }

  get #isOnlyCounting(): boolean {
    return this.#limits.isWhole === true && this.bytes > this.#limits.maxBytes
  }

  /** Skips what JSON omits from an object. */
  #entry(from: Record<string, unknown>, key: string, to: Record<string, unknown>): void {
    this.bytes += key.length + 4
    const entry = this.#read(from, key)
    if (entry === undefined || typeof entry === 'function' || typeof entry === 'symbol') return
    if (this.#isOnlyCounting) return void this.copy(entry)
    const secret = this.#secret(key, entry)
    const value = secret === undefined ? this.copy(entry) : secret
    const shown = this.#cleaner ? this.#cleaner.key(key) : key
    if (shown === '__proto__') Object.defineProperty(to, shown, { value, enumerable: true })
    else to[shown] = value
  }

  #read(from: Record<string, unknown>, key: string): unknown {
    try {
      return from[key]
    } catch (error) {
      return this.#text(unreadable(error))
    }
  }
}

/** What is shown for a value that throws when it is read. Reading the error may throw too. */
function unreadable(error: unknown): string {
  try {
    const { message } = error as { message?: unknown }
    return typeof message === 'string' ? `[unreadable: ${message}]` : '[unreadable]'
  } catch {
    return '[unreadable]'
  }
}
