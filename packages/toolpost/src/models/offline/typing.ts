import type { Word } from './words.ts'

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
}
const BREATH = new Set('um umm uh uhm er erm hmm hm mm ah eh'.split(' '))

const PLEASE = new Set(['please', 'pls', 'plz', 'plss', 'plase', 'pleas'])

/** "Close please the door". At either end, and in "if you please", it is handled with the other polite phrases. */
function isPleaseWithin(words: readonly Word[], at: number): boolean {
  const isWithin = at > 0 && at < words.length - 1
  return isWithin && PLEASE.has(words[at]?.key ?? '') && words[at - 1]?.key !== 'you'
}

/** Spells out abbreviations and drops fillers. */
export function inFull(words: readonly Word[]): Word[] {
  const spoken = words.filter(({ key }, at) => !BREATH.has(key) && !isPleaseWithin(words, at))
  return spoken.flatMap((word, at) => {
    const parts = isShortForIs(spoken, at) ? [word.key.replace(/'?s$/, ''), 'is'] : RUN_TOGETHER[word.key]
    if (!parts) return [{ ...word, key: SHORT[word.key] ?? word.key }]
    return parts.map((key, part) => ({ key, start: part === 0 ? word.start : word.end, end: word.end }))
  })
}

const HOW_MUCH = new Set('far way much a bit little'.split(' '))

/** "The kitchen's too dark", "its a bit too loud": not a possessive. */
function isShortForIs(words: readonly Word[], at: number): boolean {
  const key = words[at]?.key ?? ''
  if (!key.endsWith("'s") && key !== 'its') return false
  let next = at + 1
  while (HOW_MUCH.has(words[next]?.key ?? '')) next++
  return words[next]?.key === 'too' && next + 1 < words.length
}

const SWITCHING = new Set(['turn', 'switch', 'power', 'shut', 'put'])

/** "Turn of the fan", "switch the fan of": an f is easily lost. */
export function withOff(words: Word[]): Word[] {
  if (!SWITCHING.has(words[0]?.key ?? '')) return words
  return words.map((word, at) => {
    const isOff = word.key === 'of' && (at === 1 || at === words.length - 1)
    return isOff ? { ...word, key: 'off' } : word
  })
}
