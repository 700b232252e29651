import { distance } from 'fastest-levenshtein'
import { hasSwap } from '../../runtime/has-swap.ts'

/** A word of a request, and its position in the text. */
export interface Word {
  /** Lower case, as words are compared. */
  key: string
  start: number
  end: number
}

/** Words, numbers (including 1,000 and .5) and operators; punctuation does not count. `!` after a digit is a factorial. */
const WORD =
  /\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\p{L}\p{N}])|[\p{L}\p{N}]+(?:['’.:/_-][\p{L}\p{N}]+)*|[-+*/^%()=€$]|(?<=\d)!|\.(?<![\p{L}\p{N}.]\.)\d+(?![\p{L}\p{N}])/gu

/** `what's` for `what is`. */
const CONTRACTION =
  /^(?:(what|where|when|who|how|it|that|there)'s|(what)s|(i|it)'d|(i)'m|(what|who|how|where|we|they|you)'re)$/
/** Words separated by single spaces, without contractions. */
const PLAIN = /^(?!.*\bwhats\b)[a-z\d]+(?: [a-z\d]+)*$/
const CONTRACTED = ['is', 'is', 'would', 'am', 'are']

export function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)].flatMap(({ 0: found, index }) => {
    const key = found.toLowerCase().replaceAll('’', "'")
    const end = index + found.length
    const [, ...said] = CONTRACTION.exec(key) ?? []
    const which = said.findIndex(part => part !== undefined)
    const word = { key: said[which] ?? key, start: index, end }
    const second = CONTRACTED[which]
    return second === undefined ? [word] : [word, { key: second, start: end, end }]
  })
}

/** The same without positions, with a fast path for plain words. */
export function keysIn(text: string): string[] {
  return PLAIN.test(text) ? text.split(' ') : wordsOf(text).map(({ key }) => key)
}

export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}

/** A word that is not in the text of a request. */
export function unplaced(key: string): Word {
  return { key, start: 0, end: 0 }
}

/** How many typos two words may differ by. Short words (on, off) must be exact. */
function allowedMistakes(length: number): number {
  if (length < 4) return 0
  return length < 8 ? 1 : 2
}

export type Likeness = 'same' | 'similar' | undefined

/** Whether a word is the one meant, up to a typo; another form ("activated") is not a typo. */
export function compareWords(said: string, meant: string): Likeness {
  if (said === meant) return 'same'
  // A different number means a different thing.
  if (/\d/.test(said + meant)) return undefined
  if (isDoubled(said, meant)) return 'similar'
  const allowed = allowedMistakes(Math.min(said.length, meant.length))
  if (allowed === 0 || Math.abs(said.length - meant.length) > allowed || said[0] !== meant[0])
    return undefined
  if (said === `${meant}d` || said === `${meant}ed` || said === `${meant}ing`) return undefined
  const mistakes = distance(said, meant)
  return mistakes <= allowed || (mistakes === 2 && hasSwap(said, meant)) ? 'similar' : undefined
}

/** "dimm" for "dim", "rom" for "room": a letter too many or too few of two equal ones. */
function isDoubled(said: string, meant: string): boolean {
  const [short, long] = said.length < meant.length ? [said, meant] : [meant, said]
  if (short.length < 3 || long.length !== short.length + 1) return false
  return [...long].some(
    (letter, at) => letter === long[at + 1] && long.slice(0, at) + long.slice(at + 1) === short,
  )
}
