import { isAt } from './polite-verbs.ts'
import type { Request } from './request.ts'

/** What introduces a replacement: "and the porch light", "no, I meant the porch light". */
const ALSO =
  `and;also;and also;the same for;do the same for;and the same for;same for;same with;the same with;do the same with;
  same thing for;the same thing for;same;the same;do the same;make that;make it;not that one;no not that one;no wait;wait no;
  no sorry;oops;sorry i meant;i said;no i said;what about;how about;and what about;now;no;no i meant;i meant;i mean;no i mean;
  sorry;thanks now;thank you now;and now;actually no;no actually;wait`
    .split(';')
    .map(phrase => phrase.trim().split(' '))
    .sort((a, b) => b.length - a.length)

/** How many words introduce the replacement; `undefined` if none do. */
export function startOf({ words, text }: Request): number | undefined {
  const start = ALSO.find(phrase => words.length > phrase.length && isAt(words, 0, phrase))
  if (start) return start.length
  return /\b(?:too|as well|also)\W{0,3}$/i.test(text) ? 0 : undefined
}
