import { createRequire } from 'node:module'

/** Longer texts are not read; JSON5 takes thirty times as long. */
const MAX_JSON_CHARS = 256_000
const MAX_JSON5_CHARS = 64_000
/** Strings and comments; one without an end reaches to the end of the text. */
const STRINGS =
  /"(?:[^"\\]|\\[\s\S])*(?:"|$)|'(?:[^'\\]|\\[\s\S])*(?:'|$)|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g
const LONG_NUMBERS = /[\d.]{16,}|\d[\d.]*[eE][+-]?\d+/g
const CODE_BLOCK = /^```(?:json)?[ \t]*\n([\s\S]*)```$/i
const PYTHON_WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

/** The value of a JSON text, possibly in a code block; `undefined` if it is not JSON, or would lose digits of a number. */
export function parseJsonText(text: string): unknown {
  return parsed(text, MAX_JSON_CHARS, JSON.parse)
}

/** The same for almost-JSON: other quotes, bare keys, trailing commas, comments, Python's `True`. Never guesses. */
export function parseNearlyJson(text: string): unknown {
  const words = new RegExp(`${STRINGS.source}|\\b(?:True|False|None)\\b`, 'g')
  return parsed(text, MAX_JSON5_CHARS, body => {
    if (/\b(?:0x|NaN|Infinity)/i.test(body.replace(STRINGS, '""'))) return undefined
    const { parse } = createRequire(import.meta.url)('json5') as typeof import('json5')
    return parse(body.replace(words, found => PYTHON_WORDS[found] ?? found))
  })
}

function parsed(text: string, maxChars: number, parse: (body: string) => unknown): unknown {
  if (text.length > maxChars) return undefined
  const trimmed = text.trim()
  const body = CODE_BLOCK.exec(trimmed)?.[1] ?? trimmed
  const numbers = body.replace(STRINGS, '""').match(LONG_NUMBERS) ?? []
  if (numbers.some(number => exactNumber(number) === undefined)) return undefined
  try {
    return parse(body)
  } catch {
    return undefined
  }
}

const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** The number in a text, if a double can represent it exactly; otherwise `undefined`. */
export function exactNumber(text: string): number | undefined {
  const trimmed = text.trim()
  const value = NUMBER.test(trimmed) ? Number(trimmed) : Number.NaN
  if (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value)) return undefined
  return significantDigits(String(value)) === significantDigits(trimmed) ? value : undefined
}

/** The same for `1.50`, `15e-1` and `-1.5`. */
const significantDigits = (text: string) => text.replace(/[eE].*$|[.+-]/g, '').replace(/^0+|0+$/g, '')
