import { isSecretKey, safeText } from '../logging/safe-value.ts'

const REMOVED = '[removed]'
const MAX_DEPTH = 64
/** Counting stops after so many values: a size that large is only ever shown. */
const MAX_COUNTED = 200_000

export interface Recorded {
  value: unknown
  /** About as many as the value has as JSON. */
  bytes: number
}

/**
 * A copy of `value` for the journal: plain data, without secrets. A value of more than `maxBytes` becomes a note of
 * its size. Never throws.
 */
export function recordValue(value: unknown, maxBytes: number): Recorded {
  try {
    const copier = new Copier(maxBytes)
    const copy = copier.copy(value, 0)
    return copier.bytes <= maxBytes ? { value: copy, bytes: copier.bytes } : noteOf(value)
  } catch {
    return { value: '[unreadable]', bytes: 20 }
  }
}

function noteOf(value: unknown): Recorded {
  return { value: { '…': `shortened, ${roughSize(value)} bytes` }, bytes: 100 }
}

/** Copies until it has taken what it may. */
class Copier {
  bytes = 0
  readonly #maxBytes: number

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  copy(value: unknown, depth: number): unknown {
    if (this.bytes > this.#maxBytes) return undefined
    switch (typeof value) {
      case 'string':
        this.bytes += value.length + 2
        return this.bytes > this.#maxBytes ? undefined : withoutSecrets(value)
      case 'object':
        return value === null ? null : this.#copyObject(value, depth)
      case 'number':
        this.bytes += 5
        return Number.isFinite(value) ? value : String(value)
      case 'bigint':
        return this.copy(String(value), depth)
      case 'function':
      case 'symbol':
        return `[${typeof value}]`
      default:
        this.bytes += 5
        return value
    }
  }

  #copyObject(value: object, depth: number): unknown {
    this.bytes += 2
    if (depth >= MAX_DEPTH) return '[…]'
    if (Array.isArray(value)) return this.#copyList(value, depth)
    if (value instanceof Error) return { name: value.name, message: this.copy(value.message, depth) }
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (value instanceof Map && [...value.keys()].every(key => typeof key === 'string'))
      return this.#copyEntries(Object.fromEntries(value), depth)
    if (value instanceof Map || value instanceof Set) return this.#copyList([...value], depth)
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') return this.copy(toJSON.call(value), depth + 1)
    return this.#copyEntries(value, depth)
  }

  #copyList(values: readonly unknown[], depth: number): unknown[] {
    const result: unknown[] = []
    for (const value of values) {
      if (++this.bytes > this.#maxBytes) break
      result.push(this.copy(value, depth + 1))
    }
    return result
  }

  #copyEntries(value: object, depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {}
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue
      this.bytes += key.length + 4
      if (this.bytes > this.#maxBytes) break
      const entry = (value as Record<string, unknown>)[key]
      result[key === '__proto__' ? '[__proto__]' : key] = isSecretKey(key)
        ? REMOVED
        : this.copy(entry, depth + 1)
    }
    return result
  }
}

/** The text itself, unless there is something in it that no log may have. */
function withoutSecrets(text: string): string {
  const safe = safeText(text, Number.POSITIVE_INFINITY)
  return countOf(REMOVED, safe) > countOf(REMOVED, text) ? safe : text
}

function countOf(part: string, text: string): number {
  return text.split(part).length - 1
}

/** How large a value is, counted without looking into texts, so that it takes no time. */
function roughSize(value: unknown): string {
  const waiting: unknown[] = [value]
  let bytes = 0
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen > MAX_COUNTED) return `more than ${bytes}`
    const next = waiting.pop()
    if (typeof next === 'string') bytes += next.length + 2
    else if (typeof next !== 'object' || next === null) bytes += 5
    else if (ArrayBuffer.isView(next)) bytes += 20
    else bytes += openUp(next, waiting)
  }
  return String(bytes)
}

/** What the braces, keys and commas take; the values wait to be counted. */
function openUp(value: object, waiting: unknown[]): number {
  if (Array.isArray(value)) {
    for (let at = 0; at < Math.min(value.length, MAX_COUNTED); at++) waiting.push(value[at])
    return value.length + 2
  }
  let bytes = 2
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    bytes += key.length + 4
    waiting.push((value as Record<string, unknown>)[key])
  }
  return bytes
}
