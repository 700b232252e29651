import { exactNumber } from './exact-number.ts'

const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'/gs
const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const FENCE = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/i
/** Words for values: those of JSON, and Python's. */
const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

/** The value that a JSON text writes, if it is one and loses nothing in reading (no unsafe integers). */
export function parseJsonText(text: string): unknown {
  const body = FENCE.exec(text)?.[1] ?? text
  try {
    const value: unknown = JSON.parse(body)
    return numbersAreExact(body) ? value : undefined
  } catch {
    return undefined
  }
}

function numbersAreExact(json: string): boolean {
  const numbers = json.replace(STRINGS, '""').match(NUMBERS) ?? []
  return numbers.every(number => exactNumber(number) !== undefined)
}

/**
 * The value of a text that is nearly JSON: quotes of another kind, bare keys, a comma too many, comments, Python's
 * `True`. JSON5 is a grammar and guesses nothing: a text that was cut off, or has a part missing, has no value.
 */
export async function parseNearlyJson(text: string): Promise<unknown> {
  const body = (FENCE.exec(text)?.[1] ?? text).trim()
  const bare = body.replace(STRINGS, '""')
  if (!numbersAreExact(body) || /\b(?:0x|NaN|Infinity)/i.test(bare)) return undefined
  const { default: JSON5 } = await import('json5')
  try {
    return JSON5.parse(withJsonWords(body))
  } catch {
    return undefined
  }
}

/** Python's words as JSON's, outside of strings. */
function withJsonWords(text: string): string {
  const parts = text.split(new RegExp(`(${STRINGS.source})`, 's'))
  return parts
    .map((part, at) =>
      at % 2 === 1 ? part : part.replace(/\b(?:True|False|None)\b/g, word => WORDS[word] ?? word),
    )
    .join('')
}
