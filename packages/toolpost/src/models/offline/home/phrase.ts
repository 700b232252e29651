import { type Request, WEIGHTS } from '../request.ts'
import { nameTokens, plain } from '../tokens.ts'
import { wordSet } from '../words.ts'
import type { Home } from './home.ts'
import { meansAnything, nounOf, otherWords, singularNoun, singulars } from './nouns.ts'

const ALL = wordSet('all every each both')
const ARTICLES = wordSet('the my our your those these this that a an of')
const PREPOSITIONS = wordSet('in on at of by inside from near')
const WHOLE_HOME = wordSet('house home apartment flat everywhere place')

/** A parsed phrase. */
export interface Phrase {
  /** Its words as they are compared, and those that devices are looked up by. */
  said: string[]
  tokens: string[]
  isAll: boolean
  /** "both": exactly two. */
  isBoth: boolean
  isPlural: boolean
  /** "lights" was read as "light". */
  isMadeOne: boolean
  isAnything: boolean
  isOther: boolean
  /** Said with an article: "the velux". */
  isDefinite: boolean
  /** The house itself, not a word for everything in it. */
  isHouse: boolean
  /** The kind of thing it names: "light". */
  noun?: string | undefined
  weight: number
}

/** Parses words that may refer to devices; `undefined` if one of them refers to none. */
export function readPhrase(request: Request, start: number, used: number, home: Home): Phrase | undefined {
  const phrase: Phrase = {
    said: [],
    tokens: [],
    isAll: false,
    isBoth: false,
    isPlural: false,
    isMadeOne: false,
    isAnything: false,
    isOther: false,
    isDefinite: ARTICLES.has(request.words[start - 1]?.key ?? ''),
    isHouse: false,
    weight: 0,
  }
  const end = start + used
  for (let at = start; at < end; ) {
    const word = plain(request.words[at]?.key ?? '')
    const isFirst = phrase.tokens.length === 0 && !phrase.isAnything
    const joined = readJoined(request, at, phrase, home)
    if (joined && at + joined.used <= end) {
      at += joined.used - 1
    } else if (isFirst && ALL.has(word)) {
      phrase.isAll = true
      if (word === 'both') phrase.isBoth = true
    } else if (
      ARTICLES.has(word) &&
      (isFirst || PREPOSITIONS.has(request.words[at - 1]?.key ?? '') || word === 'of')
    ) {
      phrase.isDefinite = true
    } else if (!isFirst && PREPOSITIONS.has(word) && at + 1 < end) {
      if (word === 'on' && !ARTICLES.has(request.words[at + 1]?.key ?? '')) return undefined
    } else if (meansAnything(word)) {
      phrase.isAnything = true
      if (word === 'everything' || word.endsWith('s')) phrase.isAll = true
    } else if (isFirst && word === 'other') {
      phrase.isOther = true
    } else if (word === 'whole' || (WHOLE_HOME.has(word) && !home.knows(word))) {
      if (word !== 'whole' && isFirst && !phrase.isAll) phrase.isAnything = phrase.isHouse = true
      phrase.isAll = true
    } else {
      const token = readToken(request, at, phrase, home)
      if (!token || at + token.used > end) return undefined
      at += token.used - 1
    }
    phrase.weight += 1
    at++
  }
  const last = request.words[end - 1]?.key ?? ''
  if (ALL.has(last) && used === 1 && last === 'all') return { ...phrase, isAnything: true, isAll: true }
  if (ARTICLES.has(last) || PREPOSITIONS.has(last) || (ALL.has(last) && used > 0)) return undefined
  return phrase
}

/** Reads the next word of a phrase that devices are looked up by; `undefined` if it refers to none. */
function readToken(request: Request, at: number, phrase: Phrase, home: Home): { used: number } | undefined {
  for (const { token: said, used } of request.tokensAt(at)) {
    const token = plain(said)
    const noun = nounOf(token)
    if (noun) phrase.noun = noun.thing
    phrase.said.push(token)
    if (home.knows(token) && !noun?.isPlural) {
      phrase.tokens.push(token)
      return { used }
    }
    const single = [singularNoun(token), ...singulars(token)].find(form => home.knows(form)) ?? noun?.thing
    if (single === undefined || !home.knows(single)) {
      phrase.said.pop()
      continue
    }
    if (noun?.isPlural || !noun) {
      phrase.isPlural = true
      phrase.isMadeOne = true
    }
    phrase.tokens.push(single)
    return { used }
  }
  return (
    readOther(request, at, phrase, home) ??
    readOrdinal(request, at, phrase, home) ??
    readCompound(request, at, phrase, home) ??
    readMisspelt(request, at, phrase, home)
  )
}

/** "The toilet light" in a home with a loo. */
function readOther(request: Request, at: number, phrase: Phrase, home: Home): { used: number } | undefined {
  const other = otherWords(plain(request.words[at]?.key ?? '')).find(word => home.knows(word))
  if (other === undefined) return undefined
  phrase.tokens.push(other)
  phrase.said.push(other)
  return { used: 1 }
}

/** Joins single letters with what comes before: "a c" is "ac", "three d" is "3d". */
function readJoined(request: Request, at: number, phrase: Phrase, home: Home): { used: number } | undefined {
  for (const { token, used: first } of request.tokensAt(at)) {
    if (!/^(?:\p{L}|\d+)$/u.test(token)) continue
    let [joined, used] = [token, first]
    while (/^\p{L}$/u.test(request.words[at + used]?.key ?? '')) joined += request.words[at + used++]?.key
    if (used === first || !home.knows(joined)) continue
    phrase.tokens.push(joined)
    phrase.said.push(joined)
    phrase.weight += used - 1
    return { used }
  }
  return undefined
}

/** "livingroom" for "living room", "bed room" for "bedroom", "air conditioning" for the ac. */
function readCompound(
  request: Request,
  at: number,
  phrase: Phrase,
  home: Home,
): { used: number } | undefined {
  const word = (request.words[at]?.key ?? '').replaceAll('-', '')
  const both = word + (request.words[at + 1]?.key ?? '')
  const known = both === word ? undefined : [both, nounOf(both)?.thing ?? ''].find(form => home.knows(form))
  if (known !== undefined) {
    phrase.tokens.push(known)
    phrase.said.push(known)
    phrase.noun = nounOf(known)?.thing ?? phrase.noun
    phrase.weight += 1
    return { used: 2 }
  }
  for (let cut = 2; cut < word.length; cut++) {
    const [first, second] = [word.slice(0, cut), inDigits(word.slice(cut))]
    if (!home.knows(first) || !home.knows(second) || /^\p{L}$/u.test(second)) continue
    phrase.tokens.push(first, second)
    phrase.said.push(first, second)
    const noun = nounOf(second)
    if (noun) phrase.noun = noun.thing
    return { used: 1 }
  }
  return undefined
}

/** "switchone" is Switch 1. */
function inDigits(word: string): string {
  return nameTokens(word)[0] ?? word
}

const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ')

/** "The first switch" is Switch 1, if there is one. */
function readOrdinal(request: Request, at: number, phrase: Phrase, home: Home): { used: number } | undefined {
  const ordinal = request.words[at]?.key ?? ''
  const number = ORDINALS.indexOf(ordinal) + 1 || Number(/^(\d{1,3})(?:st|nd|rd|th)$/.exec(ordinal)?.[1] ?? 0)
  const noun = request.words[at + 1]?.key ?? ''
  if (number === 0 || home.called([noun, String(number)]).length === 0) return undefined
  phrase.tokens.push(noun, String(number))
  phrase.said.push(noun, String(number))
  phrase.weight += 1
  return { used: 2 }
}

function readMisspelt(
  request: Request,
  at: number,
  phrase: Phrase,
  home: Home,
): { used: number } | undefined {
  const word = request.words[at]?.key ?? ''
  if (request.lexicon.knows(word)) return undefined
  for (const known of home.wordsFrom(word.charAt(0))) {
    if (!request.likeness(at, known)) continue
    phrase.tokens.push(known)
    phrase.said.push(known)
    phrase.weight -= WEIGHTS.same - WEIGHTS.similar
    const noun = nounOf(known)
    if (noun) phrase.noun = noun.thing
    if (noun?.isPlural) phrase.isPlural = true
    return { used: 1 }
  }
  return undefined
}
