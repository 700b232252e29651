import { isObjectLike } from '../util/guards.ts'
import { MAX_JSON_KEYS, MAX_JSON_LEVELS, MAX_JSON_VALUES } from './limits.ts'

const [QUOTE, BACKSLASH, COMMA, COLON, BRACKET, BRACE, LF, CR] = [...'"\\,:[{\n\r'].map(sign =>
  sign.charCodeAt(0),
)
/** Nobody can prepare keys that look alike. */
const SEED = Math.floor(Math.random() * 2 ** 32)

/** Counts the values and different keys of JSON that arrives in pieces: many take much longer to handle than their size suggests. */
export class JsonCounter {
  #values = 0
  /** By the hash of their text. */
  readonly #keys = new Set<number>()
  /** The hash of the last text, whether it goes on, and whether its next character is escaped. */
  #state: [hash: number, isInText: boolean, isEscaped: boolean] = [0, false, false]

  /** Returns why the text should not be parsed, if there are too many. */
  add(piece: string): string | undefined {
    let [hash, isInText, isEscaped] = this.#state
    for (let at = 0; at < piece.length; at++) {
      const sign = piece.charCodeAt(at)
      if (isInText) hash = Math.imul(hash ^ sign, 0x01000193)
      // No text of JSON has line breaks, but other lines of an event may have a single quote.
      if (sign === LF || sign === CR) isInText = isEscaped = false
      else if (isEscaped) isEscaped = false
      else if (isInText && sign === BACKSLASH) isEscaped = true
      else if (sign === QUOTE) {
        isInText = !isInText
        if (isInText) hash = SEED
      } else if (isInText) continue
      else if (sign === COLON) this.#keys.add(hash)
      else if (sign === COMMA || sign === BRACKET || sign === BRACE) this.#values++
    }
    this.#state = [hash, isInText, isEscaped]
    if (this.#values > MAX_JSON_VALUES) return `has more than ${MAX_JSON_VALUES} values`
    return this.#keys.size > MAX_JSON_KEYS ? `has more than ${MAX_JSON_KEYS} different keys` : undefined
  }
}

/** Why a text is not parsed, if it would take too long. A short one cannot have too many values. */
export function jsonProblem(text: string): string | undefined {
  return text.length > MAX_JSON_KEYS ? new JsonCounter().add(text) : undefined
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
