import type { MathJsInstance } from 'mathjs'

/** A result has at most so many values, and so many characters of text. It is held by the parent as a whole. */
const maxSize = 100_000
const maxDepth = 100
/** Digits of a value that is returned as text. */
const precision = 14

/** A value that cannot be returned; the message continues "The result of <expression> …". */
export class UnusableValue extends Error {}

/** Turns what mathjs computed into plain data. Throws `UnusableValue` for what has no such form. */
export function toPlain(math: MathJsInstance, value: unknown): unknown {
  return new PlainValue(math).convert(value, 0)
}

/** One conversion; counts what it has met so far. */
class PlainValue {
  readonly #math: MathJsInstance
  #size = 0

  constructor(math: MathJsInstance) {
    this.#math = math
  }

  convert(value: unknown, depth: number): unknown {
    if (depth > maxDepth) throw new UnusableValue('is nested too deeply')
    this.#count(typeof value === 'string' ? value.length : 1)
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
    if (typeof value === 'number') return this.#finite(value, depth)
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'function') throw new UnusableValue('is a function, not a value: call it')
    if (value === undefined) throw new UnusableValue('is nothing: it has no value')
    return this.#convertObject(value, depth)
  }

  #convertObject(value: object, depth: number): unknown {
    const list = this.#listOf(value)
    if (list) return list.map(item => this.convert(item, depth + 1))
    if (Object.getPrototypeOf(value) === Object.prototype) {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, this.convert(item, depth + 1)]),
      )
    }
    for (const part of this.#numbersIn(value)) this.#finite(part, depth)
    return this.#math.format(value, precision)
  }

  #listOf(value: object): unknown[] | undefined {
    if (Array.isArray(value)) return value
    if (!this.#math.isMatrix(value)) return undefined
    // A sparse matrix is small until it is written out.
    this.#count(value.size().reduce((product, length) => product * length, 1))
    return value.toArray()
  }

  /** The numbers that a complex number, a unit or a big number is made of. */
  #numbersIn(value: unknown): number[] {
    if (typeof value === 'number') return [value]
    if (this.#math.isComplex(value)) return [value.re, value.im]
    if (this.#math.isUnit(value)) return this.#numbersIn((value as { value?: unknown }).value)
    // Its size does not matter: 1e+500 is a number that text can hold.
    if (this.#math.isBigNumber(value) && !value.isFinite()) return [value.toNumber()]
    return []
  }

  #finite(value: number, depth: number): number {
    if (Number.isFinite(value)) return value
    const problem = Number.isNaN(value) ? 'not a number' : 'infinite or too large'
    throw new UnusableValue(depth === 0 ? `is ${problem}` : `contains a value that is ${problem}`)
  }

  #count(size: number): void {
    this.#size += size
    if (this.#size > maxSize) throw new UnusableValue(`is larger than ${maxSize} values`)
  }
}
