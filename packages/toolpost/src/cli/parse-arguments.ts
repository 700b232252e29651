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
  if (first === undefined) return { args: {}, repair: true }
  if (words.length === 1 && !isPair(first)) return { args: fromJson(first), repair: false }
  return { args: fromPairs(words), repair: true }
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

const LOOKS_LIKE_JSON = /^\s*(?:$|[[{"\d-])/
const MAX_SHOWN = 60

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    if (!LOOKS_LIKE_JSON.test(text)) throw neither(text)
    const { words, offset } = jsonProblem(text, { disallowComments: true }) ?? {
      words: (cause as Error).message,
      offset: 0,
    }
    throw new UsageError(`the arguments are not JSON: ${words}${shownAt(text, offset)}`, { cause })
  }
}

/** The line with the mistake, and a caret below it. */
function shownAt(text: string, offset: number): string {
  const { line, column } = positionIn(text, offset)
  const from = Math.max(0, column - 1 - MAX_SHOWN / 2)
  const shown = text.split('\n')[line - 1]?.slice(from, from + MAX_SHOWN) ?? ''
  return ` at line ${line}, column ${column}\n  ${shown}\n  ${' '.repeat(column - 1 - from)}^`
}

function neither(word: string): UsageError {
  return new UsageError(`expected key=value or a single JSON argument, got '${word}'`)
}

function fromPairs(words: readonly string[]): Record<string, unknown> {
  const pairs = new Map<string, string | string[]>()
  for (const word of words) {
    if (!isPair(word)) throw neither(word)
    const equals = word.indexOf('=')
    const key = word.slice(0, equals)
    const value = word.slice(equals + 1)
    const before = pairs.get(key)
    pairs.set(key, before === undefined ? value : [before, value].flat())
  }
  return Object.fromEntries(pairs)
}
