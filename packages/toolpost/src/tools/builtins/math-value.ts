import type { MathJsInstance } from 'mathjs'

/** The most values, and characters of text, a result may have. The parent holds all of it in memory. */
const maxSize = 100_000
const maxDepth = 100
/** Significant digits of a value returned as text. */
const precision = 14

/** A value that cannot be returned; the message continues "The result of <expression> …". */
export class UnusableValue extends Error {}

/** Converts a mathjs value to plain data. Throws `UnusableValue` if it has no such form. */
export function toPlain(math: MathJsInstance, value: unknown): unknown {
  return new PlainValue(math).convert(value, 0)
}

/** One conversion; counts the values seen so far. */
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
    if (value === undefined) throw new UnusableValue('has no value')
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
    // A sparse matrix is small until it is expanded.
    this.#count(value.size().reduce((product, length) => product * length, 1))
    return value.toArray()
  }

  /** The components of a complex number, a unit or a big number. */
  #numbersIn(value: unknown): number[] {
    if (typeof value === 'number') return [value]
    if (this.#math.isComplex(value)) return [value.re, value.im]
    if (this.#math.isUnit(value)) return this.#numbersIn((value as { value?: unknown }).value)
    // Magnitude does not matter: 1e+500 can be written as text.
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
