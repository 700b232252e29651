import { MAX_JSON_VALUES } from './limits.ts'

/** Of one object: V8 builds a large dictionary in one go. */
const MAX_KEYS = MAX_JSON_VALUES / 2
const [QUOTE, BACKSLASH, COMMA, COLON, BRACKET, BRACE] = [...'"\\,:[{'].map(sign => sign.charCodeAt(0))

/** Counts the values of JSON that arrives in pieces: many small values take much longer to parse than their size suggests. */
export class JsonCounter {
  #values = 0
  /** Since the last object or list began. */
  #keys = 0
  #isInText = false
  #isEscaped = false

  /** Returns whether there are too many. */
  add(piece: string | Uint8Array): boolean {
    const isText = typeof piece === 'string'
    for (let at = 0; at < piece.length; at++) {
      const sign = isText ? piece.charCodeAt(at) : piece[at]
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isInText) {
        if (sign === QUOTE) this.#isInText = false
        else if (sign === BACKSLASH) this.#isEscaped = true
      } else if (sign === QUOTE) this.#isInText = true
      else if (sign === COMMA) this.#values++
      else if (sign === COLON) this.#keys++
      else if (sign === BRACKET || sign === BRACE) {
        this.#values++
        if (this.#keys <= MAX_KEYS) this.#keys = 0
      }
    }
    return this.#values > MAX_JSON_VALUES || this.#keys > MAX_KEYS
  }
}

export const TOO_MANY_VALUES = `has more than ${MAX_JSON_VALUES} values`

/** Why a text is not parsed, if it would take too long. A short one cannot have too many values. */
export function jsonProblem(text: string): string | undefined {
  return text.length > MAX_JSON_VALUES && new JsonCounter().add(text) ? TOO_MANY_VALUES : undefined
}
