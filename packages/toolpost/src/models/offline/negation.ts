import { distance } from 'fastest-levenshtein'
import { hasSwap } from '../../runtime/has-swap.ts'
import type { Request } from './request.ts'
import { plain } from './tokens.ts'
import type { Word } from './words.ts'

/*
 * Words that turn a command into its opposite, also in hurried spelling: "dnot", "don;t", "do nto".
 */

const words = (text: string) => new Set(text.split(/\s+/))
/** "Don't turn it on": it is to stay as it is. */
const DENIALS = words("not don't dont donot never doesn't doesnt nto nt n't no't")
/** Not a denial, and no command either: "can't turn on the light". */
const NEGATIVE = words(
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

/** Whether anything in a request speaks against doing it. */
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
