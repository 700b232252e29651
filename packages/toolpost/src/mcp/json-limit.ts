import { isObjectLike } from '../util/guards.ts'
import { MAX_JSON_LEVELS, MAX_JSON_VALUES } from './limits.ts'

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE, LF, CR] = [...'"\\,[{\n\r'].map(sign => sign.charCodeAt(0))

/** Counts the values of JSON that arrives in pieces: many small values take much longer to parse than their size suggests. */
export class JsonCounter {
  #values = 0
  #isInText = false
  #isEscaped = false

  /** Returns whether there are too many. */
  add(piece: string): boolean {
    for (let at = 0; at < piece.length; at++) {
      const sign = piece.charCodeAt(at)
      // No text of JSON has line breaks, but other lines of an event may have a single quote.
      if (sign === LF || sign === CR) this.#isInText = this.#isEscaped = false
      else if (this.#isEscaped) this.#isEscaped = false
      else if (sign === QUOTE) this.#isInText = !this.#isInText
      else if (this.#isInText) this.#isEscaped = sign === BACKSLASH
      else if (sign === COMMA || sign === BRACKET || sign === BRACE) this.#values++
    }
    return this.#values > MAX_JSON_VALUES
  }
}

export const TOO_MANY_VALUES = `has more than ${MAX_JSON_VALUES} values`

/** Why a text is not parsed, if it would take too long. A short one cannot have too many values. */
export function jsonProblem(text: string): string | undefined {
  return text.length > MAX_JSON_VALUES && new JsonCounter().add(text) ? TOO_MANY_VALUES : undefined
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
