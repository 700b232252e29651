import { didYouMean } from './asked-back.ts'
import { firstWords } from './first-words.ts'
import type { Grammar, Reading } from './grammar.ts'
import type { Home } from './home/home.ts'
import { HOME_LISTS } from './home/home-lists.ts'
import type { Lexicon } from './lexicon.ts'
import { type Meaning, saying } from './meaning.ts'
import { NO_NAMES } from './names.ts'
import { readNumber } from './numbers.ts'
import type { Request } from './request.ts'
import { nameTokens } from './tokens.ts'
import type { Word } from './words.ts'

/*
 * Replies to a request that is only partly understood. Nothing is done.
 */

const words = (text: string) => new Set(text.split(/\s+/))
/** Words for a time or a condition. */
const WHEN = words(
  `tomorrow tonight later soon when whenever if unless until till after before once while every next during between from as this
  monday tuesday wednesday thursday friday saturday sunday`,
)
/** Prepositions of time only if a time follows: "at seven", but not "in the kitchen". */
const MAYBE_WHEN = words('in for at on within around about by towards')
const TIMES = words(
  `a an half few couple some several morning evening afternoon night noon midnight sunset sunrise dawn dusk day weekend weekends
  monday tuesday wednesday thursday friday saturday sunday dinner lunch breakfast bedtime christmas case`,
)

function isLater(said: readonly Word[], at: number): boolean {
  const key = said[at]?.key ?? ''
  if (WHEN.has(key)) return true
  const next = said[at + 1]?.key === 'the' ? at + 2 : at + 1
  if (readNumber(said, at) && /^(?:minute|hour|second|day)s?$/.test(said[at + 1]?.key ?? '')) return true
  return MAYBE_WHEN.has(key) && (TIMES.has(said[next]?.key ?? '') || readNumber(said, next) !== undefined)
}

const NOT = words("not don't never dont doesn't")

type Plainly = (request: Request) => Meaning | undefined

export function halfUnderstood(request: Request, grammar: Grammar, plainly: Plainly): Meaning | undefined {
  return (
    denied(request, plainly) ??
    notNow(request, plainly) ??
    halfNamed(request, plainly) ??
    unknownName(request, grammar) ??
    leftOver(request, grammar, plainly)
  )
}

/** "Don't turn on the light". */
function denied(request: Request, plainly: Plainly): Meaning | undefined {
  const at = request.words.findIndex(({ key }) => NOT.has(key))
  if (at < 0) return undefined
  const before = request.words.slice(0, at)
  const start = before.at(-1)?.key === 'do' ? at - 1 : at
  const rest = request.with([...request.words.slice(0, start), ...request.words.slice(at + 1)])
  return acts(plainly(rest)) ? saying('talk', 'Okay, I will leave it as it is.') : undefined
}

const ONLY_NOW = 'I can only do things right away, not later or under a condition, so I did nothing.'

/** "Turn on the light in ten minutes", "when I get home turn on the light". */
function notNow(request: Request, plainly: Plainly): Meaning | undefined {
  const { words: said } = request
  for (let at = 1; at < said.length; at++) {
    const isCut = isLater(said, at) && acts(plainly(request.with(said.slice(0, at))))
    const isBegun = isLater(said, 0) && acts(plainly(request.with(said.slice(at))))
    if (isCut || isBegun) return saying('talk', ONLY_NOW)
  }
  return undefined
}

function acts(meaning: Meaning | undefined): boolean {
  return meaning?.kind === 'act' || meaning?.kind === 'ask'
}

/** "Samsung off", "turn samsung off": without an article, a partial name may be just an ordinary word. */
function halfNamed(request: Request, plainly: Plainly): Meaning | undefined {
  const said = request.words.slice(SWITCH.has(request.words[0]?.key ?? '') ? 1 : 0)
  const action = said.find(({ key }) => key === 'on' || key === 'off')
  const name = said.find(word => word !== action)
  if (!name || !action || said.length !== 2) return undefined
  const meaning = plainly(request.with([{ ...name, key: 'the' }, name, action]))
  const [call, ...others] = meaning?.kind === 'act' ? meaning.calls : []
  if (!call || others.length > 0) return undefined
  return saying('ask', didYouMean(`${call.args.deviceName} ${action.key}`))
}

const SWITCH = words('turn switch power put')

/** The request is clear, but no device has this name. */
function unknownName(request: Request, grammar: Grammar): Meaning | undefined {
  const { home } = grammar
  if (!home) return undefined
  const reading = grammar.read(request.withLexicon(withoutHome(grammar.lexicon)))
  const name = reading?.args.deviceName
  if (!reading || typeof name !== 'string' || !isPlainAbout(reading, grammar)) return undefined
  // The name is known; something else was not understood.
  if (home.called(nameTokens(name)).length > 0) return undefined
  const sorry = `I do not know a device called "${name}".`
  const near = nearest(home, name)
  if (near === undefined) return saying('talk', sorry)
  return saying('ask', `${sorry} ${didYouMean(request.text.replace(name, near).trim())}`)
}

/** Whether it is certainly about a device: it does not begin with arbitrary words, and is a command or asks for a state. */
function isPlainAbout({ sentence, tool }: Reading, { lexicon }: Grammar): boolean {
  const asksState = sentence.means === 'check' && /^\((is|are)/.test(sentence.template)
  const beginsWithWord =
    sentence.nodes[0]?.kind !== 'slot' && firstWords(sentence.nodes, lexicon) !== undefined
  return beginsWithWord && (!tool.readOnly || asksState)
}

/** The lexicon without the devices: any few words are then a name. */
function withoutHome(lexicon: Lexicon): Lexicon {
  const isOfHome = (list: string) => HOME_LISTS.includes(list) && list !== 'states'
  return { ...lexicon, list: name => (isOfHome(name) ? undefined : lexicon.list(name)) }
}

const NEAR_ENOUGH = 0.6

/** The one device whose name shares the most words with the given one. */
function nearest(home: Home, name: string): string | undefined {
  const said = nameTokens(name)
  const scored = home.devices
    .map(device => ({
      device,
      share: said.filter(word => device.words.has(word)).length / Math.max(said.length, device.tokens.length),
    }))
    .filter(({ share }) => share >= NEAR_ENOUGH)
    .sort((a, b) => b.share - a.share)
  const [best, second] = scored
  return best && best.share > (second?.share ?? 0) ? best.device.call : undefined
}

const MAX_WORDS = 16

/** One or two unknown words, without which the request would be clear. */
function leftOver(request: Request, grammar: Grammar, plainly: Plainly): Meaning | undefined {
  const { words: said } = request
  if (said.length > MAX_WORDS) return undefined
  const found = new Map<string, string>()
  for (const count of [1, 2]) {
    for (let at = 0; at + count <= said.length; at++) {
      if (!said.slice(at, at + count).every((_, k) => mayBeLeftOut(said, at + k, grammar))) continue
      const rest = [...said.slice(0, at), ...said.slice(at + count)]
      const meaning = plainly(request.with(rest))
      if (meaning?.kind === 'act' && meaning.longestFree === 0)
        found.set(meaning.key, textOf(rest, request.text))
    }
    const [sentence] = found.values()
    if (sentence !== undefined) return found.size === 1 ? saying('ask', didYouMean(sentence)) : undefined
  }
  return undefined
}

function mayBeLeftOut(said: readonly Word[], at: number, { lexicon }: Grammar): boolean {
  const key = said[at]?.key ?? ''
  return !lexicon.knows(key) && !NO_NAMES.has(key) && readNumber(said, at) === undefined
}

function textOf(rest: readonly Word[], text: string): string {
  return rest.flatMap(({ start, end }) => text.slice(start, end) || []).join(' ')
}
