import { distance } from 'fastest-levenshtein'
import { hasSwap } from '../../runtime/has-swap.ts'

/** A word of a request, and where it stands in the text. */
export interface Word {
  /** Lower case, as words are compared. */
  key: string
  start: number
  end: number
}

/** Words, numbers (1,000 too) and signs; a sentence's punctuation does not count. `!` after a figure is a factorial. */
const WORD =
  /\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\p{L}\p{N}])|[\p{L}\p{N}]+(?:['’.:/_-][\p{L}\p{N}]+)*|[-+*/^%()=€$]|(?<=\d)!/gu

/** `what's` for `what is`. */
const CONTRACTION = /^(?:(what|where|who|how|it|there)'s|(what)s)$/

/** What people say around a request without meaning anything by it, longest first. */
const BEFORE = [
  'i would like you to',
  'i want you to',
  'could you please',
  'can you please',
  'would you please',
  'could you',
  'can you',
  'would you',
  'will you',
  'please',
  'okay',
  'hello',
  'hey',
  'hi',
  'ok',
].map(phrase => phrase.split(' '))
const NOW = ['right now', 'now', 'right away', 'immediately', 'at once'].map(phrase => phrase.split(' '))
const AFTER = ['thank you', 'thanks', 'please', 'for me'].map(phrase => phrase.split(' '))

/** The words of a request, without the politeness around it. */
export function requestWords(text: string): Word[] {
  let words = wordsOf(text)
  for (let before = -1; before !== words.length; ) {
    before = words.length
    words = withoutPoliteness(words)
  }
  return words
}

/** The words without the "now" at their end, if there is one: what is asked for is meant now anyway. */
export function withoutNow(words: readonly Word[]): readonly Word[] {
  const now = NOW.find(phrase => isAt(words, words.length - phrase.length, phrase))
  return now ? words.slice(0, words.length - now.length) : words
}

export function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)].flatMap(({ 0: found, index }) => {
    const key = found.toLowerCase().replaceAll('’', "'")
    const end = index + found.length
    const [, asked, wrongly] = CONTRACTION.exec(key) ?? []
    const word = { key: asked ?? wrongly ?? key, start: index, end }
    return word.key === key ? [word] : [word, { key: 'is', start: end, end }]
  })
}

function withoutPoliteness(words: Word[]): Word[] {
  const before = BEFORE.find(phrase => isAt(words, 0, phrase))?.length ?? 0
  const rest = words.slice(before)
  const after = AFTER.find(phrase => isAt(rest, rest.length - phrase.length, phrase))?.length ?? 0
  // A word that is all there is may be meant.
  return rest.length - after > 0 ? rest.slice(0, rest.length - after) : words
}

function isAt(words: readonly Word[], at: number, phrase: readonly string[]): boolean {
  return at >= 0 && phrase.every((key, offset) => words[at + offset]?.key === key)
}

/** How far apart two words may be written and still mean the same. Short ones (on, off) must be exact. */
function allowedMistakes(length: number): number {
  if (length < 4) return 0
  return length < 8 ? 1 : 2
}

export type Likeness = 'same' | 'similar' | undefined

/** Whether a word of a request is the word that a sentence has, up to a small mistake; "activated" is no mistake. */
export function compareWords(said: string, meant: string): Likeness {
  if (said === meant) return 'same'
  const allowed = allowedMistakes(Math.min(said.length, meant.length))
  if (allowed === 0 || Math.abs(said.length - meant.length) > allowed || said[0] !== meant[0])
    return undefined
  if (said === `${meant}d` || said === `${meant}ed` || said === `${meant}ing`) return undefined
  const mistakes = distance(said, meant)
  return mistakes <= allowed || (mistakes === 2 && hasSwap(said, meant)) ? 'similar' : undefined
}
