import { describeThrown } from '../util/quietly.ts'
import type { Cleaner } from './safe-value.ts'

/** How much of a value is copied. The copy notes anything left out. */
export interface PlainLimits {
  maxDepth: number
  /** Per list or object. */
  maxEntries: number
  /** Beyond this, texts are left out. */
  maxBytes: number
  /** Beyond this, reading stops: a value that refers to itself twice is endless. */
  maxValues: number
  cleaner?: Cleaner
}

const LEFT_OUT = '[…]'
const read = (from: Record<string, unknown>, key: string) => from[key]

/**
 * Copies any value as plain JSON data. Never throws, whatever getters, proxies and `toJSON` do. Beyond JSON: NaN,
 * Infinity and BigInt as text, Map and Set as lists, an Error as its name and message, bytes as a byte count.
 * `bytes` is the approximate size as JSON, counted up to `maxValues` values.
 */
export function plainCopy(value: unknown, limits: PlainLimits) {
  const { maxDepth, maxEntries, maxBytes, maxValues, cleaner } = limits
  /** The objects that contain the one being copied. */
  const path: unknown[] = []
  let bytes = 0
  let values = 0
  const isFull = (taken: number) => taken >= maxEntries || values > maxValues

  function text(given: string): string {
    bytes += given.length + 2
    if (bytes > maxBytes) return LEFT_OUT
    return cleaner ? cleaner.text(given) : given
  }

  /** What `read` returns, or a text if it throws. */
  function attempt<From>(read: (from: From, key: string) => unknown, from: From, key = ''): unknown {
    try {
      return read(from, key)
    } catch (error) {
      return text(error instanceof Error ? `[unreadable: ${describeThrown(error)}]` : '[unreadable]')
    }
  }

  function copy(given: unknown): unknown {
    values++
    if (typeof given === 'string' || typeof given === 'bigint') return text(String(given))
    if (typeof given === 'function' || typeof given === 'symbol') return `[${typeof given}]`
    bytes += 5
    if (typeof given === 'number') return Number.isFinite(given) ? given : String(given)
    if (typeof given !== 'object' || given === null) return given
    if (path.length >= maxDepth) return LEFT_OUT
    if (path.includes(given)) return '[circular]'
    path.push(given)
    const copied = attempt(contents, given)
    path.pop()
    return copied
  }

  function contents(given: object): unknown {
    const form = plainForm(given)
    if (form !== given) return copy(form)
    return Array.isArray(given) ? list(given) : record(given as Record<string, unknown>)
  }

  function list(given: readonly unknown[]): unknown[] {
    const copied: unknown[] = []
    for (const entry of given) {
      if (isFull(copied.length)) return [...copied, `… ${given.length - copied.length} more`]
      // In a pair, which the entries of a Map are, the first may be the name of a secret.
      const [key, inner] = Array.isArray(entry) && entry.length === 2 ? entry : []
      const secret = typeof key === 'string' ? cleaner?.secret(key, inner) : undefined
      copied.push(copy(secret === undefined ? entry : [key, secret]) ?? null)
    }
    return copied
  }

  function record(given: Record<string, unknown>): Record<string, unknown> {
    const copied: Record<string, unknown> = {}
    const keys = Object.keys(given)
    for (const [taken, key] of keys.entries()) {
      if (isFull(taken)) return { ...copied, '…': `${keys.length - taken} more` }
      bytes += key.length + 4
      const entry = attempt(read, given, key)
      // JSON omits these from an object.
      if (entry === undefined || typeof entry === 'function' || typeof entry === 'symbol') continue
      const value = cleaner?.secret(key, entry) ?? copy(entry)
      const shown = cleaner ? cleaner.key(key) : key
      if (shown === '__proto__') Object.defineProperty(copied, shown, { value, enumerable: true })
      else copied[shown] = value
    }
    return copied
  }

  const copied = copy(value)
  return { value: copied, bytes, isComplete: values <= maxValues }
}

/** What is written for an object: a list, a record, text or a number; a plain record is returned as is. May throw. */
function plainForm(value: object): unknown {
  if (value instanceof Map || value instanceof Set) return [...value]
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? toJSON.call(value) : value
}
