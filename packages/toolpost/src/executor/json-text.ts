import { exactNumber } from './exact-number.ts'

const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const FENCE = '```'
/** Words for values: those of JSON, and Python's. */
const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

/** The value that a JSON text writes, if it is one and loses nothing in reading (no unsafe integers). */
export function parseJsonText(text: string): unknown {
  const body = withoutFence(text)
  try {
    const pieces = splitStrings(body)
    return isShallow(pieces) && numbersAreExact(pieces) ? JSON.parse(body) : undefined
  } catch {
    return undefined
  }
}

/** What stands in a code block, if the text is one: ```` ```json … ``` ````. */
function withoutFence(text: string): string {
  const body = text.trim()
  if (!body.startsWith(FENCE) || !body.endsWith(FENCE)) return text
  const start = body.indexOf('\n')
  const language = body.slice(FENCE.length, start).trim().toLowerCase()
  if (start < 0 || (language !== '' && language !== 'json')) return text
  return body.slice(start, -FENCE.length)
}

/**
 * A text in pieces: every second one is a string, quotes included. A quote without its partner is a character like any
 * other, and so are all later ones of its kind: the text is read twice at most.
 */
function splitStrings(text: string): string[] {
  const pieces: string[] = []
  const quotes = new Set(['"', "'"])
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const quote = text[at] as string
    if (!quotes.has(quote)) continue
    const end = endOfString(text, at)
    if (end < 0) quotes.delete(quote)
    else {
      pieces.push(text.slice(start, at), text.slice(at, end + 1))
      start = end + 1
      at = end
    }
  }
  pieces.push(text.slice(start))
  return pieces
}

/** Where the string that begins at `start` ends; -1 if it does not. */
function endOfString(text: string, start: number): number {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) return at
  }
  return -1
}

function outside(pieces: readonly string[]): readonly string[] {
  return pieces.filter((_, index) => index % 2 === 0)
}

function numbersAreExact(pieces: readonly string[]): boolean {
  const numbers = outside(pieces).flatMap(piece => piece.match(NUMBERS) ?? [])
  return numbers.every(number => exactNumber(number) !== undefined)
}

/** No arguments may be nested deeper than this: a text that is need not be read. */
const MAX_DEPTH = 250

function isShallow(pieces: readonly string[]): boolean {
  let depth = 0
  for (const piece of outside(pieces)) {
    for (const character of piece) {
      if (character === '[' || character === '{') depth++
      else if (character === ']' || character === '}') depth--
      if (depth > MAX_DEPTH) return false
    }
  }
  return true
}

/**
 * The value of a text that is nearly JSON: quotes of another kind, bare keys, a comma too many, comments, Python's
 * `True`. JSON5 is a grammar and guesses nothing: a text that was cut off, or has a part missing, has no value.
 */
export async function parseNearlyJson(text: string): Promise<unknown> {
  const pieces = splitStrings(withoutFence(text).trim())
  const hasOtherNumbers = outside(pieces).some(piece => /\b(?:0x|NaN|Infinity)/i.test(piece))
  if (!isShallow(pieces) || !numbersAreExact(pieces) || hasOtherNumbers) return undefined
  const { default: JSON5 } = await import('json5')
  for (const candidate of [
    pieces,
    pieces.map((piece, at) => (at % 2 === 1 ? piece : withJsonWords(piece))),
  ]) {
    try {
      return JSON5.parse(candidate.join(''))
    } catch {
      // Not JSON5, or not in JSON's words.
    }
  }
  return undefined
}

/** Python's words as JSON's. */
function withJsonWords(text: string): string {
  return text.replace(/\b(?:True|False|None)\b/g, word => WORDS[word] ?? word)
}
