const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Found in every number that a double may not represent exactly as written. */
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/
const FENCE = '```'
/** Deeper than arguments may be nested: not worth parsing. */
const MAX_DEPTH = 250
/** Longer texts are not read as JSON. */
const MAX_JSON_CHARS = 256_000
/** JSON5 takes thirty times as long. */
const MAX_JSON5_CHARS = 64_000

/** The value of a JSON text; `undefined` if it is not JSON, or would lose something (unsafe integers). */
export function parseJsonText(text: string): unknown {
  if (text.length > MAX_JSON_CHARS) return undefined
  const body = withoutFence(text)
  try {
    const pieces = splitStrings(body)
    return isShallow(pieces) && numbersAreExact(pieces) ? JSON.parse(body) : undefined
  } catch {
    return undefined
  }
}

/** The content of a code block, if the text is one: ```` ```json … ``` ````. */
function withoutFence(text: string): string {
  const body = text.trim()
  if (!body.startsWith(FENCE) || !body.endsWith(FENCE)) return text
  const start = body.indexOf('\n')
  const language = body.slice(FENCE.length, start).trim().toLowerCase()
  if (start < 0 || (language !== '' && language !== 'json')) return text
  return body.slice(start, -FENCE.length)
}

/**
 * Splits a text into pieces: every second one is a string, including its quotes. An unpaired quote is an ordinary
 * character, and so are all later quotes of its kind: the text is read twice at most.
 */
function splitStrings(text: string): string[] {
  const pieces: string[] = []
  let quotes = /["']/g
  let start = 0
  for (let match = quotes.exec(text); match; match = quotes.exec(text)) {
    const end = endOfString(text, match.index)
    if (end < 0) {
      const next = match.index + 1
      quotes = quotes.source.length === 1 ? /(?!)/g : new RegExp(match[0] === '"' ? "'" : '"', 'g')
      quotes.lastIndex = next
      continue
    }
    pieces.push(text.slice(start, match.index), text.slice(match.index, end + 1))
    start = quotes.lastIndex = end + 1
  }
  pieces.push(text.slice(start))
  return pieces
}

/** The end of the string that begins at `start`; -1 if it does not end. */
function endOfString(text: string, start: number): number {
  const quote = text.charAt(start)
  for (let at = text.indexOf(quote, start + 1); at >= 0; at = text.indexOf(quote, at + 1)) {
    let escapes = at
    while (text[escapes - 1] === '\\') escapes--
    if ((at - escapes) % 2 === 0) return at
  }
  return -1
}

function outside(pieces: readonly string[]): readonly string[] {
  return pieces.filter((_, index) => index % 2 === 0)
}

function numbersAreExact(pieces: readonly string[]): boolean {
  const suspect = outside(pieces).filter(piece => MAY_BE_INEXACT.test(piece))
  const numbers = suspect.flatMap(piece => piece.match(NUMBERS) ?? [])
  return numbers.every(number => exactNumber(number) !== undefined)
}

function isShallow(pieces: readonly string[]): boolean {
  let depth = 0
  for (const piece of outside(pieces)) {
    for (const [bracket] of piece.matchAll(/[[\]{}]/g)) {
      depth += bracket === '[' || bracket === '{' ? 1 : -1
      if (depth > MAX_DEPTH) return false
    }
  }
  return true
}

/**
 * The value of an almost-JSON text: other quotes, bare keys, trailing commas, comments, Python's `True`. JSON5 is a
 * grammar and does not guess: a truncated or incomplete text has no value.
 */
export async function parseNearlyJson(text: string): Promise<unknown> {
  if (text.length > MAX_JSON5_CHARS) return undefined
  const pieces = splitStrings(withoutFence(text).trim())
  const hasOtherNumbers = outside(pieces).some(piece => /\b(?:0x|NaN|Infinity)/i.test(piece))
  if (!isShallow(pieces) || !numbersAreExact(pieces) || hasOtherNumbers) return undefined
  const { default: JSON5 } = await import('json5')
  for (const candidate of [pieces, pieces.map(withJsonWords)]) {
    try {
      return JSON5.parse(candidate.join(''))
    } catch {
      // Not JSON5, or it has Python's words.
    }
  }
  return undefined
}

const PYTHON_WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

/** Replaces Python's words by JSON's, outside strings. */
function withJsonWords(piece: string, index: number): string {
  if (index % 2 === 1) return piece
  return piece.replace(/\b(?:True|False|None)\b/g, word => PYTHON_WORDS[word] ?? word)
}

const NUMBER = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
/** No number has more significant characters than this. */
const MAX_CHARS = 1_000

/** The number in a text, if a double can represent it exactly; otherwise `undefined`. */
export function exactNumber(text: string): number | undefined {
  const written = canonical(text)
  if (written === undefined) return undefined
  const value = Number(text)
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return undefined
  return canonical(String(value)) === written ? value : undefined
}

/** Sign, digits and exponent without padding, so that `1.50`, `15e-1` and `1.5` are the same. */
function canonical(text: string): string | undefined {
  const trimmed = text.trim()
  const parts = trimmed.length > MAX_CHARS ? undefined : NUMBER.exec(trimmed)
  if (!parts) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign === '-' ? '-' : ''}${significant}e${power}`
}
