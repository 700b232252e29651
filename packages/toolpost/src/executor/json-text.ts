/** Longer texts are not read. */
const MAX_JSON_CHARS = 256_000
const STRINGS = /"(?:[^"\\]|\\[\s\S])*(?:"|$)/g
const LONG_NUMBERS = /[\d.]{16,}|\d[\d.]*[eE][+-]?\d+/g
const CODE_BLOCK = /^```(?:json)?[ \t]*\n([\s\S]*)```$/i

/** The value of a JSON text, possibly in a code block; `undefined` if it is not JSON, or would lose digits of a number. */
export function parseJsonText(text: string): unknown {
  if (text.length > MAX_JSON_CHARS) return undefined
  const trimmed = text.trim()
  const body = CODE_BLOCK.exec(trimmed)?.[1] ?? trimmed
  const numbers = body.replace(STRINGS, '""').match(LONG_NUMBERS) ?? []
  if (numbers.some(number => exactNumber(number) === undefined)) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
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
