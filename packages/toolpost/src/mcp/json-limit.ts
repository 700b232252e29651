import { MAX_JSON_VALUES } from './limits.ts'

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [...'"\\,[{'].map(sign => sign.charCodeAt(0))

/** Counts the values of JSON that arrives in pieces: many small values take much longer to parse than their size suggests. */
export class JsonCounter {
  #values = 0
  #isInText = false
  #isEscaped = false

  /** Returns whether there are too many. */
  add(piece: string | Uint8Array): boolean {
    const isText = typeof piece === 'string'
    for (let at = 0; at < piece.length; at++) {
      const sign = isText ? piece.charCodeAt(at) : piece[at]
      if (this.#isEscaped) this.#isEscaped = false
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
