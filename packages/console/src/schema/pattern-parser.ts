/* Parses a schema's pattern. Lookaround and backreferences, which a finite automaton cannot match, are not supported. */

export type PatternNode =
  | { kind: 'character'; test: (character: string) => boolean }
  | { kind: 'assertion'; what: 'begin' | 'end' | 'boundary' | 'inside' }
  | { kind: 'sequence'; parts: PatternNode[] }
  | { kind: 'choice'; parts: PatternNode[] }
  | { kind: 'repeat'; part: PatternNode; min: number; max: number }

const MAX_LENGTH = 2_000
const MAX_DEPTH = 100

class UnsupportedError extends Error {}

/** `undefined` for a pattern that is not valid, not supported, or too long. */
export function parsePattern(source: string): PatternNode | undefined {
  if (source.length > MAX_LENGTH) return undefined
  try {
    // Only checks that it is valid; it is never run.
    new RegExp(source, 'u')
    return new Parser(source).whole()
  } catch {
    return undefined
  }
}

/** Recursive descent over a text that is known to be a valid pattern. */
class Parser {
  readonly #source: string
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  whole(): PatternNode {
    const node = this.#choice()
    if (this.#at < this.#source.length) throw new UnsupportedError()
    return node
  }

  #take(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.#at
    const found = token.exec(this.#source)
    if (found) this.#at += found[0].length
    return found
  }

  #choice(): PatternNode {
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) throw new UnsupportedError()
    const parts = [this.#sequence()]
    while (this.#take(/\|/y)) parts.push(this.#sequence())
    this.#depth -= 1
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: 'choice', parts }
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] as string))
      parts.push(this.#repeated(this.#atom()))
    return { kind: 'sequence', parts }
  }

  #repeated(part: PatternNode): PatternNode {
    const found = this.#take(/(?:([*+?])|\{(\d{1,9})(?:(,)(\d{0,9}))?\})\??/y)
    if (!found) return part
    const [, sign, least, comma, most] = found
    if (sign !== undefined)
      return { kind: 'repeat', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    const min = Number(least)
    return { kind: 'repeat', part, min, max: comma === undefined ? min : most ? Number(most) : Infinity }
  }

  #atom(): PatternNode {
    if (this.#take(/\((?:\?:|\?<(?![=!])[^>]*>|(?!\?))/y)) return this.#group()
    if (this.#take(/\^/y)) return { kind: 'assertion', what: 'begin' }
    if (this.#take(/\$/y)) return { kind: 'assertion', what: 'end' }
    const boundary = this.#take(/\\([bB])/y)
    if (boundary) return { kind: 'assertion', what: boundary[1] === 'b' ? 'boundary' : 'inside' }
    const set = this.#take(
      /\[(?:[^\\\]]|\\.)*\]|\.|\\(?:[dDwWsSnrtfv0]|c[A-Za-z]|[pPu]\{[^}]*\}|x..|u....|[^\w])/suy,
    )
    if (set) return { kind: 'character', test: oneOf(set[0]) }
    const literal = this.#take(/[^\\()[\]{}|*+?^$.]/suy)
    if (!literal) throw new UnsupportedError()
    return { kind: 'character', test: character => character === literal[0] }
  }

  #group(): PatternNode {
    const inner = this.#choice()
    if (!this.#take(/\)/y)) throw new UnsupportedError()
    return inner
  }
}

/** The browser's engine decides what is in a set: on a single character it is safe. */
function oneOf(set: string): (character: string) => boolean {
  const pattern = new RegExp(`^${set}$`, 'u')
  return character => pattern.test(character)
}
