import { matchSentence, prepareSentence, type Sentence } from './match.ts'
import type { Meaning } from './meaning.ts'
import { withoutAround } from './politeness.ts'
import type { Request } from './request.ts'
import { wordsOf } from './words.ts'

/*
 * What people say before and after a command that is none itself: "I'm going to bed, …", "…, it's dark in here".
 */

const RULES: Readonly<Record<string, string>> = {
  so: '(i|we) (am|are) (leaving|going (out|to bed|to sleep|home|to work|away)|off (to bed|to work|out)|heading (out|off)|home|back|here|cold|hot|tired|freezing|cooking|reading|awake|done)',
  it: 'it is [getting|so|too|very|really|a bit|a little|quite|pretty|rather|far too] (dark|late|cold|hot|warm|bright|loud|chilly|stuffy|gloomy|early|freezing) [in here|here|outside|in there|now|already]',
  not: "(i|we) (can't|can not|cannot) (see|hear|sleep) [a thing|anything|well]",
}
const SAYING = `(${Object.values(RULES).join('|')})`
const BEFORE = [
  '(dear|computer|assistant|house|yo|oi|listen|look|right|my (friend|dear)) {text}',
  '(and|then|now|also|so|but|no|nope|wait|actually|sorry|oops|anyway) {text}',
  '(no wait|wait no|hang on|hold on|no sorry|oh no|scrap that|on second (thought|thoughts)|i (changed|have changed) my mind) {text}',
  'do {text}',
  '(tell me|do you know|can you tell me|let me know|i (want|would like) to know|time to|you (can|could|may)) {text}',
  `${SAYING} [now] [so|and] {text}`,
]
const AFTER = [
  '{text} (in the house|at home|anywhere|around the house|in the whole house)',
  '{text} (ok|okay|alright|mate|love|dear|darling|honey|sweetheart|buddy|dude|man|pal|my (friend|dear|love)|computer|assistant|house)',
  `{text} [because|as|since|cause] ${SAYING} [now]`,
]

let prepared: readonly Sentence[] | undefined

/** What a request means without what is only said beside it; `undefined` if there is nothing beside it. */
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
    // "Relax, dude" is said to nobody's home.
    if (rest.length < 2 && isFirst) continue
    const inner = request.with(withoutAround(rest))
    const meaning = understand(inner) ?? aside(inner, understand)
    if (meaning) return meaning
  }
  return undefined
}
