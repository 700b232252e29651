import { inSlices } from './slices.ts'

/** JSON that exceeds the limits; the message continues "the message …". Text that is not JSON is a SyntaxError. */
export class TooLargeError extends Error {
  override name = 'TooLargeError'
}

export interface ParseLimits {
  maxValues: number
  maxDepth?: number
  /** Checked now and then: if it returns `false`, reading stops and the result is `undefined`. */
  isWanted?: () => boolean
  /** Called with the problem of an object with too many keys, which is replaced by a note; left out, it fails the whole. */
  onLeftOut?: (problem: string) => void
}

/** A list or an object that is being read. */
interface Container {
  value: unknown[] | Record<string, unknown>
  end: ']' | '}'
  /** The key of the next property, in an object. */
  key: string
  keys: number
  /** It has too many keys: what it holds is read, but not kept. */
  isLeftOut: boolean
}

/** More keys would block the event loop, both while the object is built and whenever they are listed. */
export const MAX_KEYS = 25_000
/** In place of an object that was left out. */
const LEFT_OUT = `[an object with more than ${MAX_KEYS} keys]`
/**
 * Deeper nesting is refused. As deep as the longest text that is not read in slices can be, so that one deep part of a
 * long message is rejected where it is used and does not invalidate the rest.
 */
export const MAX_MESSAGE_DEPTH = 65_536
/** How often the clock is checked. */
const VALUES_PER_LOOK = 256
/** Longer strings, and those with an escaped quote, are read in parts. */
const SHORT_STRING = 16_384
/** One part. Bounded because the engine's stack is; never ends inside an escape. */
const STRING_PART = /(?:[^"\\]|\\u[\da-fA-F]{4}|\\[^u]){1,16384}/y
const LITERAL = /[\w.+-]+/y

/**
 * `JSON.parse` for long texts: yields to the event loop regularly, and refuses what is too large to handle afterwards.
 * Copies what it keeps, so that no value retains the whole text.
 */
export async function parseInSlices(text: string, limits: ParseLimits): Promise<unknown> {
  const reader = new JsonReader(text, limits)
  await inSlices(reader.read(), limits.isWanted ?? (() => {}))
  return reader.result
}

class JsonReader {
  readonly #text: string
  readonly #maxValues: number
  readonly #maxDepth: number
  readonly #onLeftOut: ParseLimits['onLeftOut']
  readonly #open: Container[] = []
  #at = 0
  result: unknown

  constructor(text: string, { maxValues, maxDepth = MAX_MESSAGE_DEPTH, onLeftOut }: ParseLimits) {
    this.#text = text
    this.#maxValues = maxValues
    this.#maxDepth = maxDepth
    this.#onLeftOut = onLeftOut
  }

  /** Reads the whole text into `result`; yields often. */
  *read(): Generator<undefined, void> {
    for (let values = 1; ; values++) {
      if (values % VALUES_PER_LOOK === 0) yield
      if (values > this.#maxValues) throw new TooLargeError(`has more than ${this.#maxValues} values`)
      const first = this.#peek()
      let value: unknown
      if (first === '{' || first === '[') {
        const container = this.#enter(first)
        if (this.#peek() !== container.end) {
          if (container.end === '}') yield* this.#key(container)
          continue
        }
      } else {
        value = first === '"' ? (this.#shortString() ?? (yield* this.#longString())) : this.#literal()
        if (!this.#put(value)) return this.#end(value)
        if (yield* this.#another()) continue
      }
      // A list or object is complete, and perhaps those around it.
      for (;;) {
        this.#at++
        value = this.#close()
        if (!this.#put(value)) return this.#end(value)
        if (yield* this.#another()) break
      }
    }
  }

  /** Skips whitespace. */
  #peek(): string | undefined {
    for (let code = this.#text.charCodeAt(this.#at); code <= 32; code = this.#text.charCodeAt(++this.#at)) {
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) throw this.#unexpected()
    }
    return this.#text[this.#at]
  }

  #enter(first: '{' | '['): Container {
    if (this.#open.length >= this.#maxDepth)
      throw new TooLargeError(`is nested more than ${this.#maxDepth} levels deep`)
    const isObject = first === '{'
    const container: Container = {
      value: isObject ? {} : [],
      end: isObject ? '}' : ']',
      key: '',
      keys: 0,
      isLeftOut: false,
    }
    this.#open.push(container)
    this.#at++
    return container
  }

  #close(): unknown {
    const { value, isLeftOut } = this.#open.pop() as Container
    return isLeftOut ? LEFT_OUT : value
  }

  #leaveOut(container: Container): void {
    const problem = `has an object with more than ${MAX_KEYS} keys`
    if (!this.#onLeftOut) throw new TooLargeError(problem)
    this.#onLeftOut(problem)
    container.isLeftOut = true
    container.value = {}
  }

  /** Whether a comma and another item follow; if not, the list or object ends here. */
  *#another(): Generator<undefined, boolean> {
    const container = this.#open.at(-1) as Container
    const next = this.#peek()
    if (next === container.end) return false
    if (next !== ',') throw this.#unexpected()
    this.#at++
    if (container.end === '}') yield* this.#key(container)
    return true
  }

  *#key(container: Container): Generator<undefined, void> {
    if (this.#peek() !== '"') throw this.#unexpected()
    if (++container.keys === MAX_KEYS + 1) this.#leaveOut(container)
    container.key = this.#shortString() ?? (yield* this.#longString())
    if (this.#peek() !== ':') throw this.#unexpected()
    this.#at++
  }

  /** Adds a value to its container; `false` if it is the root. */
  #put(value: unknown): boolean {
    const container = this.#open.at(-1)
    if (!container) return false
    const { value: parent, key, isLeftOut } = container
    if (isLeftOut) return true
    if (Array.isArray(parent)) parent.push(value)
    else if (key !== '__proto__') parent[key] = value
    else Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })
    return true
  }

  #shortString(): string | undefined {
    const end = this.#text.indexOf('"', this.#at + 1)
    if (end < 0) throw this.#unexpected()
    if (this.#text[end - 1] === '\\' || end - this.#at > SHORT_STRING) return undefined
    const text = JSON.parse(this.#text.slice(this.#at, end + 1))
    this.#at = end + 1
    return text
  }

  *#longString(): Generator<undefined, string> {
    const parts: string[] = []
    this.#at++
    for (;;) {
      STRING_PART.lastIndex = this.#at
      const part = STRING_PART.exec(this.#text)?.[0]
      if (part === undefined) break
      parts.push(JSON.parse(`"${part}"`))
      this.#at += part.length
      yield
    }
    if (this.#text[this.#at++] !== '"') throw this.#unexpected()
    return parts.join('')
  }

  #literal(): unknown {
    LITERAL.lastIndex = this.#at
    const literal = LITERAL.exec(this.#text)?.[0]
    if (literal === undefined) throw this.#unexpected()
    this.#at += literal.length
    return JSON.parse(literal)
  }

  #end(value: unknown): void {
    if (this.#peek() !== undefined) throw this.#unexpected()
    this.result = value
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`Unexpected text at position ${this.#at} of JSON`)
  }
}
