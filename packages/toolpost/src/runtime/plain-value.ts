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

/** What is asked about every part of a copy. `list` and `object` are given copies, and may change them. */
export interface Cleaner {
  text(text: string): string
  key(key: string): { shown: string; isSecret: boolean }
  /** What is shown of the value of a secret key. */
  secret(value: unknown): unknown
  list(values: unknown[]): void
  object(entries: Record<string, unknown>): void
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

const JSON_LIMITS: PlainLimits = {
  maxDepth: 500,
  maxEntries: Number.POSITIVE_INFINITY,
  maxBytes: Number.POSITIVE_INFINITY,
  maxValues: 200_000,
}
/** What is plain costs less: a list of a million numbers is still written as it is. */
const MAX_PLAIN_VALUES = 2_000_000

/** `value` as JSON. Plain data is written as quickly as JSON.stringify can. */
export function jsonText(value: unknown): string | undefined {
  try {
    if (isPlain(value, { depth: 0, values: 0 })) return JSON.stringify(value)
  } catch {
    // A getter or a proxy threw: the copy says where.
  }
  return JSON.stringify(plainCopy(value, JSON_LIMITS).value)
}

interface Walk {
  depth: number
  values: number
}

function isPlain(value: unknown, walk: Walk): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'object') return value === null || isPlainObject(value, walk)
  return typeof value === 'string' || typeof value === 'boolean' || value === undefined
}

function isPlainObject(value: object, walk: Walk): boolean {
  if (++walk.depth > JSON_LIMITS.maxDepth) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  const isFit =
    prototype === Array.prototype
      ? isPlainList(value as unknown[], walk)
      : (prototype === Object.prototype || prototype === null) && hasPlainEntries(value, walk)
  walk.depth--
  return isFit
}

function isPlainList(values: readonly unknown[], walk: Walk): boolean {
  walk.values += values.length
  if (walk.values > MAX_PLAIN_VALUES) return false
  for (let at = 0; at < values.length; at++) if (!isPlain(values[at], walk)) return false
  return true
}

function hasPlainEntries(value: object, walk: Walk): boolean {
  const entries = value as Record<string, unknown>
  for (const key in entries)
    if (++walk.values > MAX_PLAIN_VALUES || !isPlain(entries[key], walk)) return false
  return true
}

const LEFT_OUT = '[…]'

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
        return this.#text(String(value))
      case 'object':
        return value === null ? null : this.#object(value)
      case 'function':
      case 'symbol':
        return `[${typeof value}]`
      default:
        this.bytes += 5
        return value
    }
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
      return this.#unreadable(error)
    } finally {
      path.pop()
    }
  }

  #open(value: object): unknown {
    if (Array.isArray(value)) return this.#list(value, value.length)
    const { toJSON } = value as { toJSON?: unknown }
    if (Object.getPrototypeOf(value) === Object.prototype && toJSON === undefined) return this.#entries(value)
    if (value instanceof Map) return this.#list(Map.prototype.entries.call(value), value.size)
    if (value instanceof Set) return this.#list(Set.prototype.values.call(value), value.size)
    if (value instanceof Error) return this.#entries({ name: value.name, message: value.message })
    if (value instanceof Date && Number.isNaN(value.getTime())) return 'Invalid Date'
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
    if (value instanceof String || value instanceof Number || value instanceof Boolean)
      return this.copy(value.valueOf())
    return typeof toJSON === 'function' ? this.copy(toJSON.call(value)) : this.#entries(value)
  }

  #list(values: Iterable<unknown>, length: number): unknown[] {
    const result: unknown[] = []
    for (const value of values) {
      if (this.#isFull(result.length)) {
        result.push(`… ${length - result.length} more`)
        break
      }
      this.bytes++
      result.push(this.copy(value) ?? null)
    }
    this.#cleaner?.list(result)
    return result
  }

  #entries(value: object): Record<string, unknown> {
    const result: Record<string, unknown> = {}
    let taken = 0
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue
      if (this.#isFull(taken++)) {
        result['…'] = `${Object.keys(value).length - taken + 1} more`
        break
      }
      this.#entry(value as Record<string, unknown>, key, result)
    }
    this.#cleaner?.object(result)
    return result
  }

  #isFull(entries: number): boolean {
    return entries >= this.#limits.maxEntries || this.values > this.#limits.maxValues
  }

  /** Without what JSON leaves out of an object. */
  #entry(from: Record<string, unknown>, key: string, to: Record<string, unknown>): void {
    this.bytes += key.length + 4
    const entry = this.#read(from, key)
    if (entry === undefined || typeof entry === 'function' || typeof entry === 'symbol') return
    const known = this.#cleaner?.key(key)
    const value = known?.isSecret ? this.#cleaner?.secret(entry) : this.copy(entry)
    const shown = known ? known.shown : key
    if (shown === '__proto__') Object.defineProperty(to, shown, { value, enumerable: true })
    else to[shown] = value
  }

  #read(from: Record<string, unknown>, key: string): unknown {
    try {
      return from[key]
    } catch (error) {
      return this.#unreadable(error)
    }
  }

  #unreadable(error: unknown): string {
    const message = messageIn(error)
    return message === undefined ? '[unreadable]' : this.#text(`[unreadable: ${message}]`)
  }
}

/** What an error says; it may be one that throws when it is looked at. */
function messageIn(error: unknown): string | undefined {
  try {
    const { message } = error as { message?: unknown }
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
