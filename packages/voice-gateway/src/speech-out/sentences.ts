/** A sentence that goes on for longer is cut, so that a voice need not wait for its end. */
const LONG_SENTENCE_CHARACTERS = 200
/** A clause shorter than this is not worth a cut of its own. */
const SHORT_CLAUSE_CHARACTERS = 60
/** Nothing that is said has words of this length: it is cut wherever it stands. */
const LONGEST_WORD_CHARACTERS = 1_000

const SPACE = /\s/
const STOP_AND_SPACE = /(?<![.!?…])([.!?…]+)(["')\]»”’*_`]*)\s+$/
const EAST_ASIAN_STOP = /[。！？]/
const LOWER_CASE = /^\p{Ll}/u
const NUMBER_ALONE = /^\s*[*_]*\d{1,3}$/
const LETTERS_WITH_STOPS = /(?:^|[\s("'])(?:\p{L}\.)*\p{L}$/u
const HALF_OF_A_DAY = /[ap]\.?m$/i
const LAST_WORD = /(?<!\p{L})\p{L}+$/u
const TITLES = new Set(
  'dr mr mrs ms mx prof st sr jr vs mt rev gen col sgt capt lt hon approx ca bzw hr fr nr'.split(' '),
)
const BEFORE_NUMBERS = new Set(['no', 'fig', 'vol', 'p', 'pp', 'ch'])

/**
 * Cuts an answer that comes in pieces into sentences, each given as soon as it is certain that it has ended.
 * It goes character by character, so the sentences do not depend on how the text was cut into tokens.
 */
export class SentenceSplitter {
  #current = ''

  /** The sentences that this piece completes. */
  push(token: string): string[] {
    const sentences: string[] = []
    for (let at = 0; at < token.length; at++) sentences.push(...this.#take(token.charAt(at)))
    return sentences
  }

  /** What is left when nothing more comes. */
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

/** Whether a sentence is over where `text` ends and `next`, which is no space, begins. */
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
  return TITLES.has(word) || (BEFORE_NUMBERS.has(word) && /\d/.test(next))
}

function endOfLastClause(text: string): number {
  const ends = [...text.matchAll(/[,;:–—]\s/g)].map(({ index }) => index + 1)
  return ends.findLast(end => end >= SHORT_CLAUSE_CHARACTERS) ?? text.length
}

/** The second half of a character outside of the basic plane. */
function isSecondHalf(character: string): boolean {
  return /[\udc00-\udfff]/.test(character)
}
