/** Longer texts are not read as JSON; JSON5 takes thirty times as long. */
const MAX_JSON_CHARS = 256_000
const MAX_JSON5_CHARS = 64_000
/** Deeper than arguments may be nested. */
const MAX_DEPTH = 250
/** Strings and comments; one without an end reaches to the end of the text. */
const STRINGS =
  /"(?:[^"\\]|\\[\s\S])*(?:"|$)|'(?:[^'\\]|\\[\s\S])*(?:'|$)|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g
const CODE_BLOCK = /^```(?:json)?[ \t]*\n([\s\S]*)```$/i
const PYTHON_WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

/** The value of a JSON text; `undefined` if it is not JSON, or would lose something (unsafe integers). */
export function parseJsonText(text: string): unknown {
  return parsed(text, MAX_JSON_CHARS, JSON.parse)
}

/**
 * The value of an almost-JSON text: other quotes, bare keys, trailing commas, comments, Python's `True`. JSON5 is a
 * grammar and does not guess: a truncated or incomplete text has no value.
 */
export async function parseNearlyJson(text: string): Promise<unknown> {
  const { default: JSON5 } = await import('json5')
  const words = new RegExp(`${STRINGS.source}|\\b(?:True|False|None)\\b`, 'g')
  return parsed(text, MAX_JSON5_CHARS, body =>
    JSON5.parse(body.replace(words, found => PYTHON_WORDS[found] ?? found)),
  )
}

function parsed(text: string, maxChars: number, parse: (body: string) => unknown): unknown {
  if (text.length > maxChars) return undefined
  const trimmed = text.trim()
  const body = CODE_BLOCK.exec(trimmed)?.[1] ?? trimmed
  try {
    return isFaithful(body) ? parse(body) : undefined
  } catch {
    return undefined
  }
}

/** Whether every number keeps its value, and the nesting is within reason. */
function isFaithful(body: string): boolean {
  const outside = body.replace(STRINGS, '""')
  if (/\b(?:0x|NaN|Infinity)/i.test(outside)) return false
  let depth = 0
  for (const [token] of outside.matchAll(/[[{]|[\]}]|[\d.]{16,}|\d[\d.]*[eE][+-]?\d+/g)) {
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth--
    else if (exactNumber(token) === undefined) return false
    if (depth > MAX_DEPTH) return false
  }
  return true
}

const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const MAX_NUMBER_CHARS = 1_000

/** The number in a text, if a double can represent it exactly; otherwise `undefined`. */
export function exactNumber(text: string): number | undefined {
  const trimmed = text.trim()
  if (trimmed.length > MAX_NUMBER_CHARS || !NUMBER.test(trimmed)) return undefined
  const value = Number(trimmed)
  if (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value)) return undefined
  return significantDigits(String(value)) === significantDigits(trimmed) ? value : undefined
}

/** The same for `1.50`, `15e-1` and `-1.5`. */
function significantDigits(text: string): string {
  return text.replace(/[eE].*$|[.+-]/g, '').replace(/^0+|0+$/g, '')
}
