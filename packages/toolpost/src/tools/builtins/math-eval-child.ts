// Runs in a child process: an expression can spin, recurse or fill the heap in ways that this code cannot prevent.
import { createRequire } from 'node:module'
import type { MathJsInstance } from 'mathjs'
import { shortText } from '../../util/text.ts'

// One bundled file, which loads ten times as fast as the package's modules.
const math: MathJsInstance = createRequire(import.meta.url)('mathjs/lib/browser/math.js')

const MAX_EXPRESSION_CHARS = 10_000
/** The most values, and characters of text, a result may have. The parent holds all of it in memory. */
const MAX_RESULT_SIZE = 100_000
const MAX_RESULT_DEPTH = 100
/** Significant digits of a value returned as text. */
const PRECISION = 14

/** Functions that change mathjs for later calls, or evaluate text as code. */
const REFUSED = [
  ...['import', 'config', 'createUnit', 'typed', 'reviver', 'replacer', 'chain', 'help'],
  ...['evaluate', 'parse', 'compile', 'parser', 'simplify', 'simplifyCore', 'simplifyConstant', 'derivative'],
  ...['rationalize', 'resolve', 'symbolicEqual', 'leafCount'],
]
// Only within expressions: mathjs itself keeps using these functions.
const { mathWithTransform } = (math as unknown as { expression: { mathWithTransform: object } }).expression
for (const name of REFUSED) {
  const value = () => {
    throw new Error(`${name} is not allowed in an expression`)
  }
  Object.defineProperty(mathWithTransform, name, { value, enumerable: true })
}
// mathjs creates its functions when the first expression is parsed, which takes as long as loading it.
math.evaluate('1/3')

/**
 * `12 % of 85`, which mathjs does not know, becomes `12 / 100 * 85`, unless an operator before it binds as tightly as that
 * `*`, or there is quoted text.
 */
const PERCENT_OF =
  /(?<=(?:^|[-+=,;:?([\n]|\bof)\s{0,9})(\d{1,99}(?:\.\d{0,99})?|\.\d{1,99})\s{0,9}%\s{0,9}of\s{1,9}(?=[\w(.])/g

/** Evaluates an expression and returns its value as plain data. No state carries over to the next call. */
export function evaluate({ expression }: { expression: string }): { result: unknown } {
  const { length } = expression.trim()
  if (length === 0) throw new Error('The expression is empty')
  if (length > MAX_EXPRESSION_CHARS)
    throw new Error(`The expression has ${length} characters; at most ${MAX_EXPRESSION_CHARS} are allowed`)
  const shown = shortText(expression.trim().replace(/\s+/g, ' '), 60)
  const isPlain = !/["']/.test(expression)
  try {
    const given = isPlain ? expression.replace(PERCENT_OF, '$1 / 100 * ') : expression
    const value: unknown = math.evaluate(given, new Map())
    // A result set of several statements is their values; a statement that ends in `;` has none.
    const values: unknown[] = math.isResultSet(value) ? value.valueOf() : [value]
    return { result: plainValue(values.length > 1 ? values : values[0]) }
  } catch (error) {
    if (error instanceof UnusableValue) throw new Error(`The result of ${shown} ${error.message}`)
    if (error instanceof RangeError) throw new Error(`${shown} recurses or nests too deeply`)
    throw error
  }
}

/** A value that cannot be returned; the message continues "The result of <expression> …". */
class UnusableValue extends Error {}

/** A mathjs value as plain data. */
function plainValue(whole: unknown): unknown {
  let size = 0
  const count = (more: number) => {
    size += more
    if (size > MAX_RESULT_SIZE) throw new UnusableValue(`is larger than ${MAX_RESULT_SIZE} values`)
  }
  const plain = (value: unknown, depth: number): unknown => {
    if (depth > MAX_RESULT_DEPTH) throw new UnusableValue('is nested too deeply')
    count(typeof value === 'string' ? value.length : 1)
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'function') throw new UnusableValue('is a function, not a value: call it')
    if (value === undefined) throw new UnusableValue('has no value')
    const odd = numbersIn(value).find(number => !Number.isFinite(number))
    if (odd !== undefined) {
      const problem = Number.isNaN(odd) ? 'not a number' : 'infinite or too large'
      throw new UnusableValue(depth === 0 ? `is ${problem}` : `contains a value that is ${problem}`)
    }
    if (typeof value === 'number') return value
    if (math.isMatrix(value)) count(value.size().reduce((product, length) => product * length, 1))
    const list: unknown = math.isMatrix(value) ? value.toArray() : value
    if (Array.isArray(list)) return list.map(item => plain(item, depth + 1))
    if (Object.getPrototypeOf(value) !== Object.prototype) return math.format(value, PRECISION)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, depth + 1)]))
  }
  return plain(whole, 0)
}

/** A number, or the components of a complex number, a unit or a big number. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  if (math.isComplex(value)) return [value.re, value.im]
  if (math.isUnit(value)) return numbersIn((value as { value?: unknown }).value)
  // Magnitude does not matter: 1e+500 can be written as text.
  return math.isBigNumber(value) && !value.isFinite() ? [value.toNumber()] : []
}
