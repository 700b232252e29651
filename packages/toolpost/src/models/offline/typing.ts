import { readNumber } from './numbers.ts'
import { type Word, wordSet } from './words.ts'

/*
 * Hurried typing: abbreviations, missing apostrophes, fillers.
 */

const SHORT: Readonly<Record<string, string>> = {
  teh: 'the',
  hte: 'the',
  da: 'the',
  pls: 'please',
  plz: 'please',
  plss: 'please',
  pleas: 'please',
  plase: 'please',
  u: 'you',
  ur: 'your',
  cld: 'could',
  cud: 'could',
  wat: 'what',
  lite: 'light',
  lites: 'lights',
  tmrw: 'tomorrow',
  tmr: 'tomorrow',
  '2nite': 'tonight',
  rly: 'really',
  lil: 'little',
  vol: 'volume',
  thanx: 'thanks',
  tnx: 'thanks',
}
/** Contractions without an apostrophe → the words they stand for. */
const RUN_TOGETHER: Readonly<Record<string, readonly string[]>> = {
  wats: ['what', 'is'],
  hows: ['how', 'is'],
  wheres: ['where', 'is'],
  whos: ['who', 'is'],
  thats: ['that', 'is'],
  im: ['i', 'am'],
  wanna: ['want', 'to'],
  gonna: ['going', 'to'],
  turnon: ['turn', 'on'],
  turnoff: ['turn', 'off'],
  turnup: ['turn', 'up'],
  turndown: ['turn', 'down'],
  switchon: ['switch', 'on'],
  switchoff: ['switch', 'off'],
}
const BREATH = wordSet('um umm uh uhm er erm hmm hm mm ah eh')

const PLEASE = new Set(['please', 'pls', 'plz', 'plss', 'plase', 'pleas'])

/** "Close please the door". At either end, and in "if you please", it is handled with the other polite phrases. */
function isPleaseWithin(words: readonly Word[], at: number): boolean {
  const isWithin = at > 0 && at < words.length - 1
  return isWithin && PLEASE.has(words[at]?.key ?? '') && words[at - 1]?.key !== 'you'
}

/** Spells out abbreviations and drops fillers. */
export function inFull(words: readonly Word[]): Word[] {
  const spoken = withDenials(words.flatMap(apart)).filter(
    ({ key }, at, all) => !BREATH.has(key) && !isPleaseWithin(all, at) && !isDash(all, at),
  )
  return spoken.flatMap((word, at) => {
    const parts = isShortForIs(spoken, at) ? [word.key.replace(/'?s$/, ''), 'is'] : RUN_TOGETHER[word.key]
    if (!parts) return [{ ...word, key: meantBy(spoken, at) }]
    return parts.map((key, part) => ({ key, start: part === 0 ? word.start : word.end, end: word.end }))
  })
}

/** "No - the lamp": not a minus. */
function isDash(words: readonly Word[], at: number): boolean {
  return words[at]?.key === '-' && /^\p{L}/u.test(words[at + 1]?.key ?? '') && !readNumber(words, at)
}

/** "Switch one/demo switch" are two; "A/C" is one. */
function apart(word: Word): Word[] {
  const at = word.key.indexOf('/')
  if (at < 0 || !/^\p{L}[\p{L}\p{N}]+\/\p{L}[\p{L}\p{N}]+$/u.test(word.key)) return [word]
  return [
    { key: word.key.slice(0, at), start: word.start, end: word.start + at },
    { key: word.key.slice(at + 1), start: word.start + at + 1, end: word.end },
  ]
}

/** "Don;t" and "do n't" are one word. */
function withDenials(words: readonly Word[]): readonly Word[] {
  const at = words.findIndex(({ key }, place) => isCutOff(words[place - 1]?.key, key))
  const [before, end] = [words[at - 1], words[at]]
  if (!before || !end) return words
  return words.toSpliced(at - 1, 2, { key: "don't", start: before.start, end: end.end })
}

function isCutOff(before: string | undefined, key: string): boolean {
  return (before === 'don' && key === 't') || (before === 'do' && (key === "n't" || key === 'nt'))
}

/** The word meant: "set it too 22", "bit brighter". */
function meantBy(words: readonly Word[], at: number): string {
  const [key = '', next = ''] = [words[at]?.key, words[at + 1]?.key]
  if (key === 'too' && at > 0 && readNumber(words, at + 1)) return 'to'
  if (key === 'bit' && at === 0 && /(?:er|less)$/.test(next) && next !== 'further') return 'slightly'
  return SHORT[key] ?? key
}

const HOW_MUCH = wordSet('far way much a bit little')

/** "The kitchen's too dark", "its a bit too loud": not a possessive. */
function isShortForIs(words: readonly Word[], at: number): boolean {
  const key = words[at]?.key ?? ''
  if (!key.endsWith("'s") && key !== 'its') return false
  let next = at + 1
  while (HOW_MUCH.has(words[next]?.key ?? '')) next++
  return words[next]?.key === 'too' && next + 1 < words.length
}

const SWITCHING = new Set(['turn', 'switch', 'power', 'shut', 'put'])

const NEGATIVE_QUESTIONS: Readonly<Record<string, string>> = {
  "isn't": 'is',
  isnt: 'is',
  "aren't": 'are',
  arent: 'are',
}

/** "Isn't the light on yet?" asks whether it is. */
export function askedPlainly(words: Word[]): Word[] {
  const [first, ...rest] = words
  const be = first && NEGATIVE_QUESTIONS[first.key]
  if (!first || !be) return words
  return [{ ...first, key: be }, ...(rest.at(-1)?.key === 'yet' ? rest.slice(0, -1) : rest)]
}

/** "Turn of the fan", "switch the fan of": an f is easily lost. */
export function withOff(words: Word[]): Word[] {
  if (!SWITCHING.has(words[0]?.key ?? '')) return words
  return words.map((word, at) => {
    const isOff = word.key === 'of' && (at === 1 || at === words.length - 1)
    return isOff ? { ...word, key: 'off' } : word
  })
}
