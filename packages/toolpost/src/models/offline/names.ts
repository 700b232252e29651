import { type Word, wordSet } from './words.ts'

/*
 * How to tell a name from half a sentence. The names themselves are unknown here, so a name is a few words, none of which
 * starts another clause ("when", "and"), asks or negates ("is", "don't"), acts ("turn", "remind") or says when
 * ("tomorrow", "in ten minutes") or how much ("by", "a little"). A place may follow: "light in the kitchen".
 */

const MAX_NAME_WORDS = 6

/** Arguments that accept any words. All other strings are names. */
const ANY_TEXT = wordSet(
  `text query question prompt message note content body title subject description comment reason expression term topic
  sentence phrase words search input task todo item items reminder song track artist album playlist movie show`,
)

/** Never in a name: clauses, questions, negations, people, conditions, amounts, other devices. */
export const NO_NAMES = wordSet(
  `and then or but so because when whenever if unless until till while after before once since though whether as than
  except without instead only also too either neither nor plus not no never dont
  i me we us you he him she they them it its your his their our who whom whose what which why how where this that these those
  is are was were be been am do does did done has have had can could will would should shall may might must
  isn't aren't wasn't don't doesn't didn't won't can't couldn't wouldn't shouldn't i'm i'll i'd i've you're we're it's let's
  to at by for from with about into till per every each all both any some everything everyone anything something nothing
  a an bit lot much more less off
  now later soon today tonight tomorrow yesterday minute minutes seconds hour hours sec secs min mins o'clock am pm week weeks
  month months year years next last sunset sunrise dawn dusk percent per cent %
  turn turns turned turning switched switching put puts set sets setting dim dims dimmed lower lowers lowered raise raises
  raised brighten brightens brightened bring brings brought activate deactivate enable disable start starts started stop stops
  stopped make makes made take takes took get gets got give gives gave go goes going gone went come comes came coming keep keeps
  kept leave leaves stay stays let lets hang hold holds held carry move log wake meet call calls called remind
  remember forget tell tells told ask asks asked say says said think thinks know knows want wants wanted need needs like likes
  try tries see sees look looks wait waits happen happens happened mean means works open opens opened close closes shut
  please thanks sorry maybe perhaps otherwise actually
  alarm timer reminder meeting appointment`,
)

/** May be in a name ("night light"), but not as its place ("the light in the morning"). */
const TIMES = wordSet(
  `second moment day days night nights morning mornings evening evenings afternoon noon midnight weekend weekends case
  monday tuesday wednesday thursday friday saturday sunday`,
)
/** May be in a name ("back door"), but not at its end. */
const NOT_LAST = wordSet('back up down out away over again')
/** May be in a name ("neon sign"), but not a whole one: "sign off", "game on". */
const NOT_ALONE = wordSet('sign left right work day time show party game rock well head')
const PLACES = wordSet('in on of near under behind above below beside')
const ARTICLES = wordSet('the my')
const NUMBERS = wordSet(
  'zero one two three four five six seven eight nine ten twenty thirty forty fifty half',
)

/** Whether an argument accepts any words, not just a name. */
export function takesAnyText(argument: string): boolean {
  return ANY_TEXT.has(argument.toLowerCase())
}

/** The possible lengths, in words, of a name that starts at `at`. */
export function nameLengths(request: readonly Word[], at: number): number[] {
  const lengths: number[] = []
  let isPlace = false
  for (let used = 1; used <= MAX_NAME_WORDS; used++) {
    const [before = '', key] = [request[at + used - 2]?.key, request[at + used - 1]?.key]
    if (key === undefined || NO_NAMES.has(key)) break
    const follows = used === 1 ? 'start' : PLACES.has(before) ? 'place' : 'word'
    if (ARTICLES.has(key) && follows !== 'place') break
    // "on" is part of a name only as in "on the desk".
    if (key === 'on' && !ARTICLES.has(request[at + used]?.key ?? '')) break
    if (PLACES.has(key) && follows !== 'word') break
    if (isPlace && (TIMES.has(key) || (follows === 'place' && isNumber(key)))) break
    if (PLACES.has(key)) isPlace = true
    else if (mayEnd(key, used)) lengths.push(used)
  }
  return lengths
}

function mayEnd(key: string, used: number): boolean {
  return !ARTICLES.has(key) && !NOT_LAST.has(key) && !(used === 1 && NOT_ALONE.has(key))
}

function isNumber(key: string): boolean {
  return /^\d/.test(key) || NUMBERS.has(key)
}
