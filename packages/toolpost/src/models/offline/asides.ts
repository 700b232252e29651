import { matchSentence, prepareSentence, type Sentence } from './match.ts'
import type { Meaning } from './meaning.ts'
import { withoutAround } from './politeness.ts'
import type { Request } from './request.ts'
import { type Word, wordsOf } from './words.ts'

/*
 * Remarks around a command that are not part of it: "I'm going to bed, …", "…, it's dark in here".
 */

const REMARKS: Readonly<Record<string, string>> = {
  so: '[i think|i guess] (i|we|they) (am|are) [all|both|just|about to be] (leaving|going (out|to bed|to sleep|up to bed|up|home|to work|away)|off (to bed|to work|out)|heading (out|off|home|[up|off] to bed)|home|back|here|out|off|cold|hot|tired|freezing|cooking|reading|awake|asleep|in bed|(done|finished) [with [the|my|our|this] (film|movie|show|dinner|cooking|cleaning|reading|tv|telly|work)] [for (now|today|tonight)])',
  who: '(the (kids|children|boys|girls|baby|guests|family)|everyone|everybody) (is|are) [all] (asleep|sleeping|in bed|awake|home|here|gone|out|up|leaving)',
  film: '(the|our|my) (film|movie|show|game|match|party|dinner) is (starting|over|finished|about to start|on)',
  sun: 'the sun is ([shining] in my (eyes|face)|[too|so|very] bright|blinding me|up|down|setting|out)',
  it: 'it is [getting|so|too|very|really|a bit|a little|quite|pretty|rather|far too] (dark|late|cold|hot|warm|bright|loud|chilly|stuffy|gloomy|early|freezing) [in here|here|outside|in there|now|already]',
  not: "(i|we) (can't|can not|cannot) (see|hear|sleep) [a thing|anything|well]",
}
const BEFORE = [
  '(dear|computer|assistant|house|toolpost|yo|oi|listen|look|right|my (friend|dear)|young (man|lady)|sir|madam|mate|dude|bro|love|darling|guys) {text}',
  '(and|then|now|also|so|but|nope|wait|actually|sorry|oops|anyway) {text}',
  '(no|no wait|wait no|hang on|hold on|no sorry|oh no|scrap that|on second (thought|thoughts)|i (changed|have changed) my mind) {text}',
  'do {text}',
  '(tell me|say me|do you know|can you tell me|let me know|i (want|would like) to know|time to|you (can|could|may)) {text}',
  ...Object.values(REMARKS).map(remark => `${remark} [now] [so|and] {text}`),
]
const AFTER = [
  '{text} (in the house|at home|anywhere|around the house|in the whole house)',
  '{text} (ok|okay|alright|mate|love|dear|darling|honey|sweetheart|buddy|dude|man|pal|my (friend|dear|love)|computer|assistant|house)',
  ...Object.values(REMARKS).map(remark => `{text} [because|as|since|cause] ${remark} [now]`),
]

const NO = new Set(['no', 'nope'])

/** "No, turn it on" corrects; "no turn it on" and "do no turn it on" may be denials. */
function isDenied({ text, words }: Request, rest: readonly Word[]): boolean {
  const [first] = rest
  const before = first && words[words.indexOf(first) - 1]
  if (!before || !NO.has(before.key)) return false
  return !/[^\s\w]/.test(text.slice(before.end, first.start))
}

let prepared: readonly Sentence[] | undefined

/** What a request means without its asides; `undefined` if it has none. */
export function aside(
  request: Request,
  understand: (rest: Request) => Meaning | undefined,
): Meaning | undefined {
  prepared ??= [...BEFORE, ...AFTER].map(template => prepareSentence(template, {}))
  for (const sentence of prepared) {
    const text = matchSentence(sentence, request)?.args.text
    if (typeof text !== 'string') continue
    const count = wordsOf(text).length
    const isFirst = AFTER.includes(sentence.template)
    const rest = isFirst ? request.words.slice(0, count) : request.words.slice(-count)
    // "Relax, dude" is not a request to a home.
    if (rest.length < 2 && isFirst) continue
    // "We are out of milk" is not "we are out".
    if (rest[0]?.key === 'of') continue
    if (isDenied(request, rest)) continue
    const inner = request.with(withoutAround(rest))
    const meaning = understand(inner) ?? aside(inner, understand)
    if (meaning) return meaning
  }
  return undefined
}
