import { didYouMean } from './asked-back.ts'
import { firstWords } from './first-words.ts'
import type { Grammar, Reading } from './grammar.ts'
import type { Home, HomeDevice } from './home/home.ts'
import { HOME_LISTS } from './home/home-lists.ts'
import { nounOf } from './home/nouns.ts'
import type { Lexicon } from './lexicon.ts'
import { type Meaning, saying, wouldAct } from './meaning.ts'
import { NO_NAMES } from './names.ts'
import { isDenial, isNegative } from './negation.ts'
import { isLater } from './not-now.ts'
import { readNumber } from './numbers.ts'
import type { Request } from './request.ts'
import { nameTokens } from './tokens.ts'
import type { Word } from './words.ts'

/*
 * Replies to a request that is only partly understood. Nothing is done.
 */

type Plainly = (request: Request) => Meaning | undefined

export function halfUnderstood(request: Request, grammar: Grammar, plainly: Plainly): Meaning | undefined {
  return (
    denied(request, plainly) ??
    notNow(request, plainly) ??
    (isNegative(request) ? undefined : nearly(request, grammar, plainly))
  )
}

function nearly(request: Request, grammar: Grammar, plainly: Plainly): Meaning | undefined {
  return halfNamed(request, plainly) ?? unknownName(request, grammar) ?? leftOver(request, grammar, plainly)
}

/** "Don't turn on the light". */
function denied(request: Request, plainly: Plainly): Meaning | undefined {
  const at = request.words.findIndex((_, place) => isDenial(request, place))
  if (at < 0) return undefined
  const before = request.words.slice(0, at)
  const start = before.at(-1)?.key === 'do' ? at - 1 : at
  const rest = request.with([...request.words.slice(0, start), ...request.words.slice(at + 1)])
  return wouldAct(plainly(rest)) ? saying('talk', 'Okay, I will leave it as it is.') : undefined
}

const ONLY_NOW = 'I can only do things right away, not later or under a condition, so I did nothing.'

/** "Turn on the light in ten minutes", "when I get home turn on the light". */
function notNow(request: Request, plainly: Plainly): Meaning | undefined {
  const { words: said } = request
  for (let at = 1; at < said.length; at++) {
    const isCut = isLater(said, at) && wouldAct(plainly(request.with(said.slice(0, at))))
    const isBegun = isLater(said, 0) && wouldAct(plainly(request.with(said.slice(at))))
    if (isCut || isBegun) return saying('talk', ONLY_NOW)
  }
  return undefined
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

const SWITCH = new Set(['turn', 'switch', 'power', 'put'])

/** The request is clear, but no device has this name. */
function unknownName(request: Request, grammar: Grammar): Meaning | undefined {
  const { home } = grammar
  const name = unknownNameIn(request, grammar)
  if (!home || name === undefined) return undefined
  const sorry = `I do not know a device called "${name}".`
  const near = nearest(home, name)
  if (near === undefined) return saying('talk', sorry)
  return saying('ask', `${sorry} ${didYouMean(request.text.replace(name, near).trim())}`)
}

/** The name in a clear request about a device, if no device has it. */
export function unknownNameIn(request: Request, grammar: Grammar): string | undefined {
  const { home } = grammar
  const reading = home && grammar.read(request.withLexicon(withoutHome(grammar.lexicon)))
  const name = reading?.args.deviceName
  if (!reading || typeof name !== 'string' || !isPlainAbout(reading, grammar)) return undefined
  // The name is known; something else was not understood.
  return home.called(nameTokens(name)).length > 0 ? undefined : name
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
    .filter(device => !isAnother(said, device))
    .map(device => ({
      device,
      share: said.filter(word => device.words.has(word)).length / Math.max(said.length, device.tokens.length),
    }))
    .filter(({ share }) => share >= NEAR_ENOUGH)
    .sort((a, b) => b.share - a.share)
  const [best, second] = scored
  return best && best.share > (second?.share ?? 0) ? best.device.call : undefined
}

const ORDINAL = /^(?:first|second|third|fourth|fifth|other|\d+)$/

/** Another number, or another kind of thing: "demo switch two", "back door light" for a lock. */
function isAnother(said: readonly string[], { tokens, things }: HomeDevice): boolean {
  const thing = nounOf(said.at(-1) ?? '')?.thing
  const isOtherThing = thing !== undefined && !things.has(thing)
  return isOtherThing || said.some(token => ORDINAL.test(token) && !tokens.includes(token))
}

const MAX_WORDS = 16

/** One or two unknown words, without which the request would be clear. */
function leftOver(request: Request, grammar: Grammar, plainly: Plainly): Meaning | undefined {
  const { words: said } = request
  if (said.length > MAX_WORDS) return undefined
  const found = new Map<string, string>()
  for (const count of [1, 2]) {
    // An unknown first word may change the meaning of all others: "type turn on the light".
    for (let at = 1; at + count <= said.length; at++) {
      if (!said.slice(at, at + count).every((_, k) => mayBeLeftOut(said, at + k, grammar))) continue
      const rest = [...said.slice(0, at), ...said.slice(at + count)]
      const meaning = plainly(request.with(rest))
      if (meaning?.kind === 'act' && meaning.longestFree === 0)
        found.set(meaning.key, textOf(request.with(rest), grammar))
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

/** As it was said, with the names of the home spelt right. */
function textOf(request: Request, { home, lexicon }: Grammar): string {
  const spelt = request.words.flatMap(({ key, start, end }, at) => {
    const said = request.text.slice(start, end)
    if (said === '' || lexicon.knows(key)) return said === '' ? [] : [said]
    return home?.wordsFrom(key.charAt(0)).find(word => request.likeness(at, word)) ?? said
  })
  return spelt.join(' ')
}
