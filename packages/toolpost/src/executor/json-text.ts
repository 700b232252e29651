import { exactNumber } from './exact-number.ts'

const STRINGS = /"(?:[^"\\]|\\.)*"/g
const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const FENCE = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/i

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
 * The value of a text that is nearly JSON: quotes of another kind, bare keys, a comma too many, Python's `True`.
 * Only where it is certain: a text that was cut off, or that has no end of its own, is not completed.
 */
export async function parseNearlyJson(text: string): Promise<unknown> {
  const body = (FENCE.exec(text)?.[1] ?? text).trim()
  if (!body.startsWith('{') || !body.endsWith('}') || !isBalanced(body)) return undefined
  const { jsonrepair } = await import('jsonrepair')
  try {
    return parseJsonText(jsonrepair(body))
  } catch {
    return undefined
  }
}

/** Whether every bracket outside of strings is closed by its own kind, and every string ends. */
function isBalanced(text: string): boolean {
  const open: string[] = []
  let quote: string | undefined
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (quote !== undefined) {
      if (character === '\\') at++
      else if (character === quote) quote = undefined
    } else if (character === '"' || character === "'") quote = character
    else if (character === '{' || character === '[') open.push(character === '{' ? '}' : ']')
    else if ((character === '}' || character === ']') && open.pop() !== character) return false
  }
  return quote === undefined && open.length === 0
}
