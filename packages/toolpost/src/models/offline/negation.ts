import { distance } from 'fastest-levenshtein'
import { hasSwap } from '../../runtime/has-swap.ts'
import type { Request } from './request.ts'
import { plain } from './tokens.ts'
import { type Word, wordSet } from './words.ts'

/*
 * Words that negate a command, hurried spellings included: "dnot", "don;t", "do nto".
 */

/** "Don't turn it on": leave it as it is. */
const DENIALS = wordSet("not don't dont donot never doesn't doesnt nto nt n't no't")
/** Neither a denial nor a command: "can't turn on the light". */
const NEGATIVE = wordSet(
  `cannot can't cant won't wont didn't didnt shouldn't shouldnt couldn't couldnt wouldn't wouldnt mustn't mustnt needn't
  neednt isn't isnt aren't arent wasn't wasnt hasn't hasnt haven't havent hadn't no none neither nor nothing nobody without`,
)
/** What a misspelling is compared with. */
const SPELT = ["don't", 'dont', 'donot', 'never', 'cannot', "won't", "doesn't"]

/** Whether the word at `at` says that something must not be done. */
export function isDenial(request: Request, at: number): boolean {
  const word = request.words[at]
  if (!word) return false
  return DENIALS.has(word.key) || isNoCommand(request.words, at) || isMisspelt(word, request)
}

/** Whether a request contains any negation. */
export function isNegative(request: Request): boolean {
  return request.words.some(({ key }, at) => NEGATIVE.has(key) || isDenial(request, at))
}

/** "Do no turn it on". */
function isNoCommand(said: readonly Word[], at: number): boolean {
  return said[at]?.key === 'no' && said[at - 1]?.key === 'do'
}

/** A known word is never a misspelling of a denial: "Don's lamp". */
function isMisspelt({ key }: Word, { lexicon }: Request): boolean {
  if (key.length < 3 || lexicon.knows(key) || lexicon.knows(plain(key))) return false
  return SPELT.some(spelt => key[0] === spelt[0] && isNear(key, spelt))
}

function isNear(key: string, spelt: string): boolean {
  const mistakes = distance(key, spelt)
  return mistakes <= 1 || (mistakes === 2 && (hasSwap(key, spelt) || sorted(key) === sorted(spelt)))
}

function sorted(key: string): string {
  return [...key].sort().join('')
}
