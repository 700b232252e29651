import { readNumber } from './numbers.ts'
import { type Word, wordSet } from './words.ts'

/*
 * Words that set a time or a condition.
 */

const WHEN = wordSet(
  `tomorrow tonight later soon when whenever if unless until till after before once while every next during
  monday tuesday wednesday thursday friday saturday sunday`,
)
/** Only if a time follows: "at seven", but not "in the kitchen" or "by ten percent". */
const MAYBE_WHEN = wordSet('in for at on within around about by towards from between this')
const TIMES = wordSet(
  `morning evening afternoon night noon midnight sunset sunrise dawn dusk day days weekend weekends
  monday tuesday wednesday thursday friday saturday sunday dinner lunch breakfast bedtime christmas case`,
)
/** "In *a few* minutes". */
const SOME = wordSet('a an half few couple of some several the little another')
const UNITS = wordSet(
  `second seconds sec secs minute minutes min mins hour hours day days week weeks month months year years while bit moment
  jiffy tick`,
)
/** After a number, these make it an amount. */
const AMOUNTS = wordSet('% percent per degree degrees celsius fahrenheit c f')

/** Whether a time or a condition begins at `at`. */
export function isLater(said: readonly Word[], at: number): boolean {
  const key = said[at]?.key ?? ''
  if (WHEN.has(key)) return !(key === 'when' && ASKING.has(said[at + 1]?.key ?? ''))
  if (key === 'as') return said[at + 1]?.key === 'soon' || said[at + 1]?.key === 'long'
  if (readNumber(said, at) && UNITS.has(said[at + 1]?.key ?? '')) return true
  return MAYBE_WHEN.has(key) && isTime(said, at + 1)
}

/** "When did you …" is a question. */
const ASKING = wordSet('did do does is are was were will has have')

function isTime(said: readonly Word[], at: number): boolean {
  let next = at
  while (SOME.has(said[next]?.key ?? '')) next++
  const key = said[next]?.key ?? ''
  if (next > at && (UNITS.has(key) || key === '')) return said[next - 1]?.key !== 'the'
  if (TIMES.has(key)) return true
  const number = readNumber(said, next)
  return number !== undefined && !AMOUNTS.has(said[next + number.used]?.key ?? '')
}
