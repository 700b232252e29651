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
const CONTRACTION =
  /^(?:(what|where|when|who|how|it|that|there)'s|(what)s|(i)'d|(i)'m|(what|who|how|where)'re)$/
const CONTRACTED = ['is', 'is', 'would', 'am', 'are']

const phrases = (lines: string) =>
  lines
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
    .map(phrase => phrase.split(' '))
    .sort((a, b) => b.length - a.length)

/** What people say around a request without meaning anything by it, longest first. */
const BEFORE = phrases(`
  i would like you to
  i want you to
  i need you to
  i was wondering if you could
  would it be possible to
  is it possible to
  do me a favor and
  do me a favour and
  could you please
  can you please
  would you please
  will you please
  could you
  can you
  would you
  will you
  go ahead and
  please
  kindly
  just
  quickly
  alright
  all right
  excuse me
  okay
  hey there
  good morning
  good evening
  hello
  hey
  hi
  ok
  oh
  so
  um
  uh
  well
`)
const NOW = phrases(`
  right now
  now
  right away
  straight away
  immediately
  at once
  at the moment
  currently
  again
`)
const AFTER = phrases(`
  thank you very much
  thank you
  thanks a lot
  thanks
  cheers
  please
  for me
  for us
  will you
  would you
  could you
  can you
  if you can
  if you could
  if you would
  if you don't mind
  if possible
  real quick
  as well
  too
`)
/** "Would you mind turning it off" asks for what "turn it off" asks for. */
const MIND = phrases(`
  would you mind
  do you mind
`)
const GERUNDS: Readonly<Record<string, string>> = {
  turning: 'turn',
  switching: 'switch',
  putting: 'put',
  setting: 'set',
  dimming: 'dim',
  opening: 'open',
  closing: 'close',
  shutting: 'shut',
  locking: 'lock',
  making: 'make',
  raising: 'raise',
  lowering: 'lower',
  muting: 'mute',
  starting: 'start',
  activating: 'activate',
  checking: 'check',
  telling: 'tell',
}

/** The words of a request, without the politeness around it. */
export function requestWords(text: string): Word[] {
  let words = wordsOf(text)
  for (let before = -1; before !== words.length; ) {
    before = words.length
    words = withoutPoliteness(withoutMind(words))
  }
  return words
}

/** The words without the "now" or "again" at their end, if there is one: what is asked for is meant now anyway. */
export function withoutNow(words: readonly Word[]): readonly Word[] {
  const now = NOW.find(phrase => isAt(words, words.length - phrase.length, phrase))
  return now ? words.slice(0, words.length - now.length) : words
}

function withoutMind(words: Word[]): Word[] {
  const mind = MIND.find(phrase => isAt(words, 0, phrase))
  const [first, ...rest] = words.slice(mind?.length)
  const verb = mind && first && Object.hasOwn(GERUNDS, first.key) ? GERUNDS[first.key] : undefined
  return first && verb ? [{ ...first, key: verb }, ...rest] : words
}

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
