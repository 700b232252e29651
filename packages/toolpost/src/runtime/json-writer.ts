import { isObjectLike } from './guards.ts'
import { plainSize } from './plain-size.ts'
import { digitsOf, plainForm, unreadable } from './plain-value.ts'

export interface WriteLimits {
  maxChars: number
  maxValues: number
  maxDepth: number
}

const LIMITS: WriteLimits = {
  maxChars: 64 * 1024 * 1024,
  maxValues: Number.POSITIVE_INFINITY,
  maxDepth: 1_000,
}
/** How much is written before yielding to others. */
const SLICE_CHARS = 64 * 1024
const SLICE_MS = 5
const VALUES_PER_LOOK = 256
/** Smaller plain values are written by JSON.stringify, which is ten times as fast. */
const MAX_PLAIN_VALUES = 1_000
/** Budget for failed checks whether something is plain, on top of what was written: they happen at every level. */
const MAX_VAIN_VALUES = 64 * MAX_PLAIN_VALUES
const REST = '[too large: rest omitted]'

/** JSON text to be written verbatim. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * Writes any value as valid JSON, a slice at a time, so that a huge one does not block the event loop. Never throws:
 * whatever JSON cannot express (BigInt, NaN, cycles), cannot be read, or exceeds the limits is replaced by a note.
 */
export class JsonWriter {
  readonly #limits: WriteLimits
  readonly #path = new Set<object>()
  readonly #rest: Iterator<void>
  #text = ''
  #chars = 0
  #values = 0
  #vainValues = 0
  #lookAt = VALUES_PER_LOOK
  #until = 0
  isDone: boolean
  /** Whether nothing has been left out so far. */
  isWhole = true

  constructor(value: unknown, limits: Partial<WriteLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
    this.isDone = this.#writeAtOnce(value)
    this.#rest = this.#writeSlowly(value)
  }

  /** The next slice. */
  next(): string {
    this.#until = performance.now() + SLICE_MS
    this.isDone ||= this.#rest.next().done ?? false
    const text = this.#text
    this.#chars += text.length
    this.#text = ''
    return text
  }

  /** The remainder in one go: for values known to be small. */
  rest(): string {
    let text = this.next()
    while (!this.isDone) text += this.next()
    return text
  }

  get #isFull(): boolean {
    const { maxChars, maxValues } = this.#limits
    return this.#chars + this.#text.length > maxChars || this.#values > maxValues
  }

  /** Whether the slice is over. */
  get #isDue(): boolean {
    if (this.#text.length >= SLICE_CHARS) return true
    if (this.#values < this.#lookAt) return false
    this.#lookAt = this.#values + VALUES_PER_LOOK
    return performance.now() > this.#until
  }

  /** Writes values that take no time; returns `false` for any other. */
  #writeAtOnce(value: unknown): boolean {
    if (isObjectLike(value)) return this.#writePlain(value)
    if (typeof value === 'string' && value.length > SLICE_CHARS) return false
    this.#values++
    this.#text += isOdd(value) ? `"${wordsFor(value)}"` : (JSON.stringify(value) ?? 'null')
    return true
  }

  #writePlain(value: object): boolean {
    if (this.#vainValues > MAX_VAIN_VALUES + this.#chars + this.#text.length) return false
    const size = plainSize(value, MAX_PLAIN_VALUES)
    if (size === undefined) {
      this.#vainValues += MAX_PLAIN_VALUES
      return false
    }
    this.#text += JSON.stringify(value)
    this.#values += size
    return true
  }

  *#writeSlowly(value: unknown): Generator<void> {
    if (!isObjectLike(value)) return yield* this.#writePieces(String(value))
    if (this.#path.has(value)) return this.#say('[circular]')
    if (this.#path.size >= this.#limits.maxDepth) return this.#leaveOut('[…]')
    const plain = formOf(value)
    // toJSON may have taken any amount of time.
    if (plain !== value) this.#lookAt = 0
    if (plain instanceof RawJson) this.#text += plain.text
    else if (!isObjectLike(plain)) this.#writeAtOnce(plain) || (yield* this.#writePieces(String(plain)))
    else yield* this.#writeEntries(value, plain)
  }

  /** A surrogate pair cut in two becomes two escapes, which read back as one character. */
  *#writePieces(text: string): Generator<void> {
    this.#text += '"'
    for (let at = 0; at < text.length && !this.#isFull; at += SLICE_CHARS) {
      this.#text += JSON.stringify(text.slice(at, at + SLICE_CHARS)).slice(1, -1)
      yield
    }
    if (this.#isFull) this.#leaveOut(REST, '')
    this.#text += '"'
  }

  /** `value` is the object a cycle would return to, `plain` what is written for it. */
  *#writeEntries(value: object, plain: object): Generator<void> {
    const { keys, length } = shapeOf(plain)
    let comma = ''
    this.#path.add(value)
    this.#text += keys ? '{' : '['
    for (let at = 0; at < length; at++) {
      const key = keys?.[at]
      const entry = read(plain, key ?? at)
      if (key !== undefined && isSilent(entry)) continue
      this.#text += key === undefined ? comma : `${comma}${JSON.stringify(key)}:`
      comma = ','
      if (this.#isFull) {
        this.#leaveOut(REST)
        break
      }
      if (!this.#writeAtOnce(entry)) yield* this.#writeSlowly(entry)
      if (this.#isDue) yield
    }
    this.#text += keys ? '}' : ']'
    this.#path.delete(value)
  }

  #say(words: string, quote = '"'): void {
    this.#text += `${quote}${words}${quote}`
  }

  #leaveOut(words: string, quote?: string): void {
    this.isWhole = false
    this.#say(words, quote)
  }
}

/** Whether JSON omits the value from an object. */
function isSilent(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol'
}

/** Whether JSON cannot express the value. */
function isOdd(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))
}

function wordsFor(value: unknown): string {
  return typeof value === 'bigint' ? digitsOf(value) : String(value)
}

/** A proxy may throw. */
function shapeOf(plain: object): { keys?: readonly string[]; length: number } {
  try {
    if (Array.isArray(plain)) return { length: plain.length }
    const keys = Object.keys(plain)
    return { keys, length: keys.length }
  } catch {
    return { keys: [], length: 0 }
  }
}

function read(source: object, key: string | number): unknown {
  try {
    return (source as Record<string | number, unknown>)[key]
  } catch (error) {
    return unreadable(error)
  }
}

function formOf(value: object): unknown {
  try {
    return plainForm(value)
  } catch (error) {
    return unreadable(error)
  }
}
