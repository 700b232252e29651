import { EMPTY_LEXICON, type Lexicon } from './lexicon.ts'
import { readNumber } from './numbers.ts'
import { requestWords } from './politeness.ts'
import { plain } from './tokens.ts'
import { compareWords, type Likeness, type Word } from './words.ts'

/** What "it" and "the other one" refer to. */
export interface Mentioned {
  /** The names of the devices in the last calls. */
  readonly devices: readonly string[]
  /** Whether the volume was mentioned after them. */
  readonly isSound?: boolean
  /** Mentioned in the same sentence: "on and off" does not mean on, then off. */
  readonly isSameSentence?: boolean
}

/** A possible value of an argument at some position: how many words it uses, and how strong the evidence is. */
export interface Taking {
  value: unknown
  used: number
  weight: number
  /** How many words could be anything. */
  free: number
}

/** How much a word counts for a sentence: its own words most, free text least. */
export const WEIGHTS = { same: 1, similar: 0.75, calculation: 0.8, unfit: 0.6, free: 0.3 } as const

/** Longer requests are not commands; a model may make sense of them. */
const MAX_REQUEST_CHARS = 500

export interface RequestOptions {
  lexicon?: Lexicon | undefined
  mentioned?: Mentioned | undefined
  /** An ambiguous name means one of these. */
  chosen?: readonly string[] | undefined
}

/** A request that is being matched. */
export class Request {
  readonly text: string
  readonly words: readonly Word[]
  readonly lexicon: Lexicon
  readonly mentioned: Mentioned
  readonly chosen: readonly string[] | undefined
  readonly #likenesses = new Map<string, Likeness>()
  readonly #taken = new Map<object, Map<number, readonly Taking[]>>()

  constructor(text: string, words: readonly Word[], options: RequestOptions = {}) {
    this.text = text
    this.words = words
    this.lexicon = options.lexicon ?? EMPTY_LEXICON
    this.mentioned = options.mentioned ?? { devices: [] }
    this.chosen = options.chosen
  }

  /** The request with other words. */
  with(words: readonly Word[]): Request {
    return new Request(this.text, words, { ...this })
  }

  /** The request with another lexicon. */
  withLexicon(lexicon: Lexicon): Request {
    return new Request(this.text, this.words, { ...this, lexicon })
  }

  /** The request as it follows a mention of these devices, if there are any. */
  about(devices: readonly string[]): Request {
    return devices.length === 0
      ? this
      : new Request(this.text, this.words, { ...this, mentioned: { devices, isSameSentence: true } })
  }

  /** The request in which an ambiguous name means one of these, if there are any. */
  among(chosen: readonly string[]): Request {
    return chosen.length === 0 ? this : new Request(this.text, this.words, { ...this, chosen })
  }

  /** Whether the word at `at` is `key`. A known word is never a misspelling of another. */
  likeness(at: number, key: string): Likeness {
    const said = this.words[at]?.key
    if (said === undefined) return undefined
    if (said === key) return 'same'
    if (said[0] !== key[0]) return undefined
    const pair = `${said} ${key}`
    if (!this.#likenesses.has(pair))
      this.#likenesses.set(pair, this.lexicon.knows(said) ? undefined : compareWords(said, key))
    return this.#likenesses.get(pair)
  }

  /** Whether the word at `at` is one of these. */
  isOneOf(at: number, keys: ReadonlySet<string>): boolean {
    const said = this.words[at]?.key
    if (said === undefined || keys.has(said)) return said !== undefined
    if (this.lexicon.knows(said)) return false
    for (const key of keys) if (this.likeness(at, key)) return true
    return false
  }

  /** The word at `at` as a name token, and a number that starts there as one token: "twenty one" is `21`. */
  tokensAt(at: number): { token: string; used: number }[] {
    const word = this.words[at]
    if (!word) return []
    const number = readNumber(this.words, at)
    const asWord = { token: plain(word.key), used: 1 }
    return number && number.value >= 0
      ? [{ token: String(number.value), used: number.used }, asWord]
      : [asWord]
  }

  /** Memoizes what `read` finds at `at`. */
  once(reader: object, at: number, read: () => readonly Taking[]): readonly Taking[] {
    const byPlace = this.#taken.get(reader) ?? new Map<number, readonly Taking[]>()
    this.#taken.set(reader, byPlace)
    const known = byPlace.get(at)
    if (known) return known
    const taken = read()
    byPlace.set(at, taken)
    return taken
  }
}

/** A text as a request; `undefined` if it is too long to be one. */
export function requestOf(text: string, options?: RequestOptions): Request | undefined {
  if (text.length > MAX_REQUEST_CHARS) return undefined
  return new Request(text, requestWords(text), options)
}
