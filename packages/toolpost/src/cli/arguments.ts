import { jsonProblem, positionIn } from '../project/source.ts'
import { UsageError } from './exit-codes.ts'

export interface TypedArguments {
  args: unknown
  /** Whether to coerce to the schema: `key=value` was typed by a person, while JSON is taken as it is. */
  repair: boolean
}

/** The arguments of `toolpost call`: one JSON text, or any number of `key=value`; a key given twice makes a list. */
export function parseArguments(words: readonly string[]): TypedArguments {
  const [first] = words
  if (first !== undefined && words.length === 1 && !isPair(first))
    return { args: fromJson(first), repair: false }
  const pairs = new Map<string, string | string[]>()
  for (const word of words) {
    if (!isPair(word)) throw neither(word)
    const equals = word.indexOf('=')
    const [key, value] = [word.slice(0, equals), word.slice(equals + 1)]
    const before = pairs.get(key)
    pairs.set(key, before === undefined ? value : [before, value].flat())
  }
  return { args: Object.fromEntries(pairs), repair: true }
}

/** Parses a call written as code, `tool(a: 1, b: "x")`, into name and JSON arguments. `undefined` if it is not one. */
export async function callExpression(word: string): Promise<{ name: string; args: string } | undefined> {
  const [, name, inner = ''] = /^([^\s()]+)\((.*)\)$/s.exec(word) ?? []
  if (name === undefined) return undefined
  const { default: JSON5 } = await import('json5')
  try {
    return { name, args: JSON.stringify(JSON5.parse(/^\s*\{/.test(inner) ? inner : `{${inner}}`)) }
  } catch (cause) {
    throw new UsageError(`expected ${name}(key: value, …), got '${word}'`, { cause })
  }
}

function isPair(word: string): boolean {
  return /^[^\s=:{}[\]"']+=/.test(word)
}

function neither(word: string): UsageError {
  return new UsageError(`expected key=value or a single JSON argument, got '${word}'`)
}

const MAX_SHOWN = 60

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    if (!/^\s*(?:$|[[{"\d-])/.test(text)) throw neither(text)
    const found = jsonProblem(text, { disallowComments: true })
    const { words, offset } = found ?? { words: (cause as Error).message, offset: 0 }
    const { line, column } = positionIn(text, offset)
    const from = Math.max(0, column - 1 - MAX_SHOWN / 2)
    const shown = text.split('\n')[line - 1]?.slice(from, from + MAX_SHOWN) ?? ''
    const where = `at line ${line}, column ${column}\n  ${shown}\n  ${' '.repeat(column - 1 - from)}^`
    throw new UsageError(`the arguments are not JSON: ${words} ${where}`, { cause })
  }
}

/** The milliseconds of `--timeout`, if it was given. */
export function timeoutOf({ timeout }: { timeout?: string }): number | undefined {
  if (timeout === undefined || Number(timeout) > 0) return timeout === undefined ? undefined : Number(timeout)
  throw new UsageError(`--timeout expects milliseconds, got '${timeout}'`)
}

/** The words of a call; `-` stands for all of standard input. */
export async function withStandardInput(words: readonly string[]): Promise<readonly string[]> {
  if (words.length !== 1 || words[0] !== '-') return words
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const chunk of process.stdin) text += chunk
  return [text]
}
