import { DID_YOU_MEAN } from './asked-back.ts'
import { carryingOn } from './carrying-on.ts'
import { lastAnswer, lastQuestion, mentionedIn, type SoFar } from './conversation-so-far.ts'
import { startOf } from './following-words.ts'
import type { Grammar, Reading } from './grammar.ts'
import { unknownNameIn } from './half-understood.ts'
import type { HomeDevice } from './home/home.ts'
import { fitsList } from './home/home-lists.ts'
import { meaningOf } from './home/meanings.ts'
import { isReference } from './home/reference.ts'
import { isAlike } from './home/said-of.ts'
import { type Meaning, saying } from './meaning.ts'
import { readNumber } from './numbers.ts'
import { type Request, requestOf } from './request.ts'
import type { TemplateNode } from './template.ts'
import { nameTokens } from './tokens.ts'
import { undo } from './undo.ts'
import { wordSet } from './words.ts'

const phrases = (text: string) => new Set(text.split(','))
const YES = phrases(
  'yes,yeah,yep,yup,sure,correct,right,exactly,yes do it,do it,do that,go ahead,that is right,of course,i do,i did,yes i did,yes i do,absolutely,ok,okay,yes that one',
)
const NO = phrases(
  "no,nope,nah,no thanks,no thank you,neither,none,none of them,neither of them,don't,wrong,not that,no i did not,no i don't,no not that,cancel",
)
const AGAIN = phrases(
  'again,do it again,do that again,once more,one more time,repeat,repeat that,same again,the same again',
)
const MORE = phrases(
  'more,a bit more,even more,a little more,some more,bit more,little more,a touch more,a tad more,further,a bit further',
)
const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth']
/** How many turns back an "again" may refer to. */
const MAX_TURNS = 5

const WHICH_ONE = /^Which one do you mean: (.{1,500})\?$/

/** How to understand a text in a conversation. */
type Understand = (text: string, before: SoFar, chosen?: readonly string[]) => Meaning | undefined

interface Conversation {
  grammar: Grammar
  before: SoFar
  understand: Understand
}
type Turn = ReturnType<typeof lastQuestion>

/** The meaning of a request that refers to the conversation so far; `undefined` if it does not. */
export function followUp(
  request: Request,
  { grammar, before, understand }: Conversation,
): Meaning | undefined {
  if (before.messages.length === 0) return undefined
  const said = request.words.map(({ key }) => key).join(' ')
  const asked = lastAnswer(before)
  const [, meant] = DID_YOU_MEAN.exec(asked) ?? []
  const previous = lastQuestion(before)
  if (meant !== undefined && YES.has(said)) return understand(meant, previous?.before ?? before)
  if (asked.endsWith('?') && NO.has(said)) return saying('talk', 'Okay.')
  const [, names] = WHICH_ONE.exec(asked) ?? []
  const chosen = names === undefined ? undefined : chosenOf(request, names, grammar)
  if (chosen && previous) return understand(previous.text, previous.before, chosen)
  if (isAgain(said) && previous)
    return whichWay(said, readingOf(previous, grammar)) ?? again(previous, understand)
  return (
    undo(said, { before, last: () => readingOf(previous, grammar), grammar }) ??
    carryingOn(request, { grammar, before }) ??
    bareLevel(request, previous, { grammar, before, understand }) ??
    instead(request, before, grammar) ??
    insteadOfUnknown(request, previous, { grammar, before, understand })
  )
}

/** "30" after dimming: the level. */
function bareLevel(
  request: Request,
  previous: Turn,
  { grammar, before, understand }: Conversation,
): Meaning | undefined {
  const number = request.text.includes('?') ? undefined : readNumber(request.words, 0)
  if (!number || number.used !== request.words.length || number.value < 0 || number.value > 100)
    return undefined
  const { sentence, args } = readingOf(previous, grammar) ?? {}
  const isLevel = args?.level !== undefined || (sentence?.means === 'step' && args?.direction !== undefined)
  if (!isLevel) return undefined
  const what = mentionedIn(before, grammar.home).isSound ? 'the volume' : 'it'
  const meaning = understand(`set ${what} to ${number.value}${number.value < 1 ? '' : ' percent'}`, before)
  return meaning?.kind === 'act' ? meaning : undefined
}

/** "I meant switch one", if the last request named no device of this home. */
function insteadOfUnknown(
  request: Request,
  previous: Turn,
  { grammar, understand }: Conversation,
): Meaning | undefined {
  const start = startOf(request)
  const asked = previous && requestOf(previous.text, { lexicon: grammar.lexicon })
  if (start === undefined || !asked || !wholeReference(request, 'devices', grammar, start)) return undefined
  const unknown = grammar.read(asked) === undefined ? unknownNameIn(asked, grammar) : undefined
  const rest = request.words.slice(start)
  const [first, last] = [rest[0], rest.at(-1)]
  if (!previous || unknown === undefined || !first || !last) return undefined
  const named = request.text.slice(first.start, last.end).replace(/^(?:the|my) /i, '')
  return understand(previous.text.replace(unknown, named), previous.before)
}

function isAgain(said: string): boolean {
  return AGAIN.has(said) || MORE.has(said)
}

/** "A bit more" after a fixed level: the direction is unclear. */
function whichWay(said: string, last: Reading | undefined): Meaning | undefined {
  if (!MORE.has(said) || !last || last.sentence.means === 'step') return undefined
  if (last.args.temperature !== undefined) return saying('ask', 'Warmer or cooler?')
  return last.args.level === undefined ? undefined : saying('ask', 'Higher or lower?')
}

function again(previous: { text: string; before: SoFar }, understand: Understand): Meaning | undefined {
  let turn: typeof previous | undefined = previous
  for (let turns = 0; turn && turns < MAX_TURNS; turns++) {
    const said = requestOf(turn.text)?.words.map(({ key }) => key)
    if (!isAgain(said?.join(' ') ?? '')) return understand(turn.text, turn.before)
    turn = lastQuestion(turn.before)
  }
  return undefined
}

/** "The porch light", "the second one", "both": a choice among the names offered. */
function chosenOf(request: Request, names: string, grammar: Grammar): readonly string[] | undefined {
  const offered = names.split(/, | or /)
  const said = request.words.map(({ key }) => key).filter(key => !BESIDE_CHOICE.has(key))
  if (said.length === 1 && (said[0] === 'both' || said[0] === 'all')) return offered
  if (said.length === 1 && said[0] === 'last') return offered.slice(-1)
  const at = said.length === 1 ? ORDINALS.indexOf(said[0] ?? '') : -1
  if (at >= 0) return offered.slice(at, at + 1)
  const named = wholeReference(request, 'devices', grammar) ?? []
  const chosen = named.filter(name => offered.includes(name))
  if (chosen.length > 0 || named.length === 1) return chosen.length > 0 ? chosen : named
  const telling = (grammar.home?.devices ?? [])
    .filter(({ words }) => said.length > 0 && said.every(word => words.has(word)))
    .map(({ call }) => call)
  const among = telling.filter(name => offered.includes(name))
  return among.length === 1 ? among : telling.length === 1 ? telling : undefined
}

const BESIDE_CHOICE = wordSet('the one of them in i mean meant')

/** The devices that the whole rest of a request refers to. */
function wholeReference(request: Request, list: string, grammar: Grammar, at = 0): string[] | undefined {
  const taken = grammar.lexicon.list(list)?.read(request, at) ?? []
  const whole = taken.find(({ used }) => used === request.words.length - at)?.value
  return isReference(whole) ? whole.devices.map(({ call }) => call) : undefined
}

/** "And the other one", "the porch light too", "and in the kitchen": the last request, applied to something else. */
function instead(request: Request, before: SoFar, grammar: Grammar): Meaning | undefined {
  const start = startOf(request) ?? startAfterNot(request, grammar)
  const last = start === undefined ? undefined : lastReading(before, grammar)
  if (!last || start === undefined) return undefined
  const mentioned = mentionedIn(before, grammar.home)
  const about = requestOf(request.text, { lexicon: grammar.lexicon, mentioned })?.with(request.words)
  const change = about && (otherDevice(about, start, last, grammar) ?? otherRoom(about, start, last, grammar))
  return change && meaningOf(grammar, { ...last, args: { ...last.args, ...change } })
}

/** "Not the tv, the fan": how many words name what was not meant. */
function startAfterNot(request: Request, { lexicon }: Grammar): number | undefined {
  const { words } = request
  const at = words[0]?.key === 'no' ? 1 : 0
  if (words[at]?.key !== 'not') return undefined
  if (words[at + 1]?.key === 'there') return at + 2
  const ends = (lexicon.list('devices')?.read(request, at + 1) ?? []).map(({ used }) => at + 1 + used)
  const end = ends.filter(place => place < words.length).at(-1)
  return end !== undefined && words[end]?.key === 'but' ? end + 1 : end
}

function otherDevice(request: Request, start: number, last: Reading, { lexicon }: Grammar) {
  const list = listOf(last.sentence.nodes)
  const taken = list === undefined ? undefined : lexicon.list(list)?.read(request, start)
  const whole = taken?.find(({ used }) => used === request.words.length - start)
  return whole && { deviceName: whole.value }
}

function otherRoom(request: Request, start: number, last: Reading, { lexicon, home }: Grammar) {
  const at = request.words.findIndex(({ key }, place) => place >= start && !BEFORE_ROOMS.has(key))
  const taken = at < 0 ? undefined : lexicon.list('rooms')?.read(request, at)
  const whole = taken?.find(({ used }) => used === request.words.length - at)
  if (!whole || ABOUT_ROOMS.has(last.sentence.means ?? '')) return whole && { room: whole.value }
  const inside = home?.room(nameTokens(String(whole.value)))?.devices
  return inside && sameIn([...inside], last)
}

/** The devices of the same kind in another room: "the kitchen light", and now "in the bedroom". */
function sameIn(room: readonly HomeDevice[], { args, sentence }: Reading) {
  const { deviceName: before } = args
  if (!isReference(before)) return undefined
  const list = listOf(sentence.nodes) ?? ''
  const devices = room.filter(
    device =>
      !device.isDead && fitsList(list, device) && before.devices.some(other => isAlike(device, other)),
  )
  return devices.length === 0 ? undefined : { deviceName: { ...before, devices }, room: undefined }
}

const ABOUT_ROOMS = new Set(['measure', 'which'])
const BEFORE_ROOMS = new Set(['in', 'at', 'the', 'my', 'our'])

function lastReading(before: SoFar, grammar: Grammar): Reading | undefined {
  let turn = lastQuestion(before)
  for (let turns = 0; turn && turns < MAX_TURNS; turns++) {
    const reading = readingOf(turn, grammar)
    if (reading && (isReference(reading.args.deviceName) || ABOUT_ROOMS.has(reading.sentence.means ?? '')))
      return reading
    turn = lastQuestion(turn.before)
  }
  return undefined
}

function readingOf(turn: Turn, grammar: Grammar): Reading | undefined {
  const mentioned = turn && mentionedIn(turn.before, grammar.home)
  const request = turn && requestOf(turn.text, { lexicon: grammar.lexicon, mentioned })
  return request && grammar.read(request)
}

function listOf(nodes: readonly TemplateNode[]): string | undefined {
  for (const node of nodes) {
    if (node.kind === 'slot' && node.name === 'deviceName') return node.list
    const inner = node.kind === 'group' ? node.branches.map(listOf).find(Boolean) : undefined
    if (inner) return inner
  }
  return undefined
}
