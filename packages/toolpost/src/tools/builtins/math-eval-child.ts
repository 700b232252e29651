// Runs in a child process: an expression can spin, recurse or fill the heap in ways that this code cannot prevent.
import { createRequire } from 'node:module'
import type { MathJsInstance } from 'mathjs'
import { rewritePercentages } from './math-percent.ts'
import { toPlain, UnusableValue } from './math-value.ts'

// One bundled file, which loads ten times as fast as the package's modules.
const math: MathJsInstance = createRequire(import.meta.url)('mathjs/lib/browser/math.js')

const maxLength = 10_000

/** Functions that change mathjs for later calls, or evaluate text as code. */
const refused = [
  ...['import', 'config', 'createUnit', 'typed', 'reviver', 'replacer', 'chain', 'help'],
  ...['evaluate', 'parse', 'compile', 'parser', 'simplify', 'simplifyCore', 'simplifyConstant', 'derivative'],
  ...['rationalize', 'resolve', 'symbolicEqual', 'leafCount'],
]
refuse(refused)
// mathjs creates its functions when the first expression is parsed, which takes as long as loading it.
math.evaluate('1/3')

/** Evaluates an expression and returns its value as plain data. No state carries over to the next call. */
export function evaluate({ expression }: { expression: string }): { result: unknown } {
  if (typeof expression !== 'string' || expression.trim() === '') throw new Error('The expression is empty')
  if (expression.length > maxLength) {
    throw new Error(`The expression has ${expression.length} characters; at most ${maxLength} are allowed`)
  }
  try {
    const value: unknown = math.evaluate(rewritePercentages(expression), new Map())
    return { result: toPlain(math, lastValue(value)) }
  } catch (error) {
    throw explain(error, expression)
  }
}

/** The value of one statement, or the values of several; a statement that ends in `;` has none. */
function lastValue(value: unknown): unknown {
  if (!math.isResultSet(value)) return value
  const entries: unknown[] = value.valueOf()
  return entries.length > 1 ? entries : entries[0]
}

function explain(error: unknown, expression: string): unknown {
  if (error instanceof UnusableValue)
    return new Error(`The result of ${shorten(expression)} ${error.message}`)
  if (error instanceof RangeError && /call stack/.test(error.message)) {
    return new Error(`${shorten(expression)} recurses or nests too deeply`)
  }
  return error
}

function shorten(expression: string): string {
  const line = expression.trim().replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}

/** Only within expressions: mathjs itself keeps using these functions. */
function refuse(names: string[]): void {
  const { mathWithTransform } = (math as unknown as { expression: { mathWithTransform: object } }).expression
  for (const name of names) {
    const value = () => {
      throw new Error(`${name} is not allowed in an expression`)
    }
    Object.defineProperty(mathWithTransform, name, { value, enumerable: true })
  }
}
