import { isObjectLike } from '../util/guards.ts'
import { MAX_JSON_KEYS, MAX_JSON_LEVELS, MAX_JSON_VALUES } from './limits.ts'

const [QUOTE, BACKSLASH, COMMA, COLON, BRACKET, BRACE, LF, CR] = [...'"\\,:[{\n\r'].map(sign =>
  sign.charCodeAt(0),
)
/** Nobody can prepare keys that look alike. */
const SEED = Math.floor(Math.random() * 2 ** 32)

/** Why JSON should not be parsed: many values, or many different keys, take much longer to handle than its size suggests. */
export function jsonProblem(text: string): string | undefined {
  // A short one cannot have too many.
  if (text.length <= MAX_JSON_KEYS) return undefined
  let values = 0
  /** By the hash of their text. */
  const keys = new Set<number>()
  let hash = 0
  let isInText = false
  let isEscaped = false
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (isInText) hash = Math.imul(hash ^ sign, 0x01000193)
    // No text of JSON has line breaks, but other lines of an event may have a single quote.
    if (sign === LF || sign === CR) isInText = isEscaped = false
    else if (isEscaped) isEscaped = false
    else if (isInText && sign === BACKSLASH) isEscaped = true
    else if (sign === QUOTE) {
      isInText = !isInText
      if (isInText) hash = SEED
    } else if (isInText) continue
    else if (sign === COLON) keys.add(hash)
    else if (sign === COMMA || sign === BRACKET || sign === BRACE) values++
  }
  if (values > MAX_JSON_VALUES) return `has more than ${MAX_JSON_VALUES} values`
  return keys.size > MAX_JSON_KEYS ? `has more than ${MAX_JSON_KEYS} different keys` : undefined
}

/** The value of a JSON text; `undefined` if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a value is nested so deeply that comparing or writing it could exhaust the stack. */
export function isTooDeep(value: unknown, levels = MAX_JSON_LEVELS): boolean {
  if (!isObjectLike(value)) return false
  return levels === 0 || Object.values(value).some(inner => isTooDeep(inner, levels - 1))
}

// Where programs put the id: after `jsonrpc` (Python, Go, Rust, Java) or at the very end (TypeScript). Nowhere else, because
// the message itself may contain anything that looks like one.
const ID = String.raw`"id"\s*:\s*("[^"\\]{1,100}"|-?\d{1,15})\s*`
const VERSION = String.raw`(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?`
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*${VERSION}${ID},`)
const ID_LAST = new RegExp(String.raw`[}\]"\d]\s*,\s*${VERSION}${ID}\}\s*$`)

/** How much of either end of a message is enough to find its id. */
export const KEPT_BYTES = 1_024

/** The id of a message that is too large, if it can be found in its ends. */
export function idIn(line: string): number | string | undefined {
  const id = (ID_FIRST.exec(line.slice(0, KEPT_BYTES)) ?? ID_LAST.exec(line.slice(-KEPT_BYTES)))?.[1]
  return id?.startsWith('"') ? id.slice(1, -1) : id && Number(id)
}
