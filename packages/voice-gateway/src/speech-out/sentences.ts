import { readData } from '../data.ts'

/** A longer sentence is cut, so that the voice need not wait for its end. */
const LONG_SENTENCE_CHARACTERS = 200
/** A clause shorter than this is not worth cutting off. */
const SHORT_CLAUSE_CHARACTERS = 60
/** No spoken word is this long: it is cut anywhere. */
const LONGEST_WORD_CHARACTERS = 1_000

const SPACE = /\s/
const STOP_AND_SPACE = /(?<![.!?…])([.!?…]+)(["')\]»”’*_`]*)\s+$/
const EAST_ASIAN_STOP = /[。！？]/
const LOWER_CASE = /^\p{Ll}/u
const NUMBER_ALONE = /^\s*[*_]*\d{1,3}$/
const LETTERS_WITH_STOPS = /(?:^|[\s("'])(?:\p{L}\.)*\p{L}$/u
const HALF_OF_A_DAY = /[ap]\.?m$/i
const LAST_WORD = /(?<!\p{L})\p{L}+$/u
/** Abbreviations that do not end a sentence; some only before a number. */
const { titles, beforeNumbers } = readData<{ titles: string[]; beforeNumbers: string[] }>(
  'spoken-english.json',
)

/**
 * Splits a streamed answer into sentences, each emitted as soon as it has certainly ended.
 * Works character by character, so the result does not depend on how the text was split into tokens.
 */
export class SentenceSplitter {
  #current = ''

  /** The sentences completed by this piece. */
  push(token: string): string[] {
    const sentences: string[] = []
    for (let at = 0; at < token.length; at++) sentences.push(...this.#take(token.charAt(at)))
    return sentences
  }

  /** What is left at the end of the stream. */
  end(): string[] {
    return this.#cutHere()
  }

  #take(character: string): string[] {
    if (character === '\n') return this.#cutHere()
    const sentences = SPACE.test(character) ? this.#cutLong() : this.#cutBefore(character)
    this.#current += character
    return sentences
  }

  #cutBefore(character: string): string[] {
    if (endsSentence(this.#current, character)) return this.#cutHere()
    const { length } = this.#current
    return length >= LONGEST_WORD_CHARACTERS && !isSecondHalf(character) ? this.#cutHere() : []
  }

  #cutLong(): string[] {
    if (this.#current.length < LONG_SENTENCE_CHARACTERS) return []
    return this.#cutAt(endOfLastClause(this.#current))
  }

  #cutHere(): string[] {
    return this.#cutAt(this.#current.length)
  }

  #cutAt(index: number): string[] {
    const sentence = this.#current.slice(0, index).trim()
    this.#current = this.#current.slice(index).trimStart()
    return sentence ? [sentence] : []
  }
}

/** Whether a sentence ends between `text` and `next`, which is not a space. */
function endsSentence(text: string, next: string): boolean {
  if (EAST_ASIAN_STOP.test(text.slice(-1))) return !/[。！？」』”’"）)]/.test(next)
  if (!SPACE.test(text.slice(-1))) return false
  const match = STOP_AND_SPACE.exec(text)
  if (!match) return false
  const [, stop = '', closing = ''] = match
  const goesOn = LOWER_CASE.test(next)
  if (/[!?]/.test(stop)) return !(goesOn && closing)
  return !goesOn && (stop !== '.' || !isAbbreviation(text.slice(0, match.index), next))
}

/** Whether the full stop after `text` belongs to its last word. */
function isAbbreviation(text: string, next: string): boolean {
  if (NUMBER_ALONE.test(text)) return true
  if (HALF_OF_A_DAY.test(text)) return false
  if (LETTERS_WITH_STOPS.test(text)) return true
  const word = LAST_WORD.exec(text)?.[0].toLowerCase() ?? ''
  return titles.includes(word) || (beforeNumbers.includes(word) && /\d/.test(next))
}

function endOfLastClause(text: string): number {
  const ends = [...text.matchAll(/[,;:–—]\s/g)].map(({ index }) => index + 1)
  return ends.findLast(end => end >= SHORT_CLAUSE_CHARACTERS) ?? text.length
}

/** A low surrogate. */
function isSecondHalf(character: string): boolean {
  return /[\udc00-\udfff]/.test(character)
}
