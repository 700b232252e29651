import { jsonSchemaOf } from '../../schema/json-schema.ts'
import { asQuestion } from './as-question.ts'
import { aside } from './asides.ts'
import { devicesOf, mentionedIn, type SoFar } from './conversation-so-far.ts'
import { followUp } from './follow-up.ts'
import type { Grammar } from './grammar.ts'
import { halfUnderstood } from './half-understood.ts'
import { meaningOf } from './home/meanings.ts'
import { isReference } from './home/reference.ts'
import { NOTES } from './local-sentences.ts'
import { matchSentence, prepareSentence, type Sentence } from './match.ts'
import { MATCHED, type Meaning, wouldAct } from './meaning.ts'
import { phraseTogether } from './phrase-answer.ts'
import { withoutAround, withoutNow } from './politeness.ts'
import { type Request, requestOf } from './request.ts'
import { saidBeside } from './said-beside.ts'
import { talkAbout } from './talk.ts'
import { wordsOf } from './words.ts'

/** What a whole request means in a conversation; `undefined` if it is not understood. Never throws. */
export function understand(text: string, before: SoFar, grammar: Grammar): Meaning | undefined {
  return inConversation(text, before, grammar)
}

function inConversation(
  text: string,
  before: SoFar,
  grammar: Grammar,
  chosen?: readonly string[],
): Meaning | undefined {
  const request = requestOf(text, {
    lexicon: grammar.lexicon,
    mentioned: mentionedIn(before, grammar.home),
    chosen,
  })
  if (!request || request.words.length === 0) return undefined
  const again = (other: string, earlier: SoFar, picked?: readonly string[]) =>
    inConversation(other, earlier, grammar, picked)
  return (
    followUp(request, { grammar, before, understand: again }) ??
    asQuestion(request, asked => plainly(asked, grammar)) ??
    plainly(request, grammar) ??
    aside(request, rest => plainly(rest, grammar) ?? talkAbout(rest, grammar)) ??
    talkAbout(request, grammar) ??
    halfUnderstood(request, grammar, part => plainly(part, grammar)) ??
    saidBeside(request, grammar, part => plainly(part, grammar)) ??
    lookUp(request, grammar)
  )
}

/** "The porch light, turn it on": the topic comes first. */
function topical(request: Request, grammar: Grammar): Meaning | undefined {
  for (const { value, used } of grammar.lexicon.list('devices')?.read(request, 0) ?? []) {
    const rest = request.words.slice(used)
    if (!isReference(value) || !rest.some(({ key }) => PRONOUNS.has(key))) continue
    const about = [...value.devices, ...value.unfit].map(({ call }) => call)
    const meaning = clear(request.about(about).with(withoutAround(rest)), grammar)
    // If several devices share the name, the one that can do it is meant.
    if (meaning && meaning.calls.length > 0 && (value.isAll || meaning.calls.length === 1)) return meaning
  }
  return undefined
}

const PRONOUNS = new Set(['it', 'them', 'that'])

/** Nobody keeps notes on these. */
const NOT_NOTED =
  /\b(?:tomorrow|yesterday|weather|forecast|meaning|news|score|capital|president|population|square root|opened|closed|locked|unlocked|shut|turned|switched)\b/i

const questions = new WeakMap<Grammar, readonly Sentence[]>()

/** Looks the question up in the notes. */
function lookUp(request: Request, grammar: Grammar): Meaning | undefined {
  const tool = grammar.tool(NOTES.tool)
  if (!tool) return undefined
  const sentences =
    questions.get(grammar) ?? NOTES.sentences.map(template => prepareSentence(template, jsonSchemaOf(tool)))
  questions.set(grammar, sentences)
  for (const sentence of sentences) {
    const match = matchSentence(sentence, request)
    if (!match) continue
    // Asking how to do something is not a request to do it, and the notes do not cover it either.
    const query = String(match.args.query)
    const isCommand = NOT_NOTED.test(query) || wouldAct(plainly(request.with(wordsOf(query)), grammar))
    const meaning = isCommand ? undefined : meaningOf(grammar, { ...match, sentence, tool })
    if (meaning) return { ...meaning, isGuess: true }
  }
  return undefined
}

/** Read as it stands, without a final "now", or as several requests in one. */
function plainly(request: Request, grammar: Grammar): Meaning | undefined {
  const reading = grammar.read(request) ?? grammar.read(request.with(withoutNow(request.words)))
  return (
    (reading && meaningOf(grammar, reading)) ??
    topical(request, grammar) ??
    together(request, grammar) ??
    respectively(request, grammar)
  )
}

const JOINTS = [
  'and then',
  'and also',
  'and please',
  'and after that',
  'after that',
  'and',
  'then',
  'but',
  'so',
  '+',
].map(joint => joint.split(' '))
const MAX_PARTS = 6

/** "Turn on the light and close the blinds": every part must be clear. */
function together(request: Request, grammar: Grammar, parts = MAX_PARTS): Meaning | undefined {
  if (parts < 2) return undefined
  let unclear: Meaning | undefined
  for (let at = 1; at < request.words.length; at++) {
    const joint = jointAt(request, at)
    if (joint === undefined) continue
    const first = clear(request.with(request.words.slice(0, at)), grammar)
    if (!first) continue
    const rest = following(request, first).with(request.words.slice(at + joint))
    const second = clear(rest, grammar) ?? together(rest, grammar, parts - 1)
    if (joint > 0 && asksWhatWasDone(request) && wouldAct(second)) continue
    const both = second && (withoutComplaint(first, second) ?? joined(first, second))
    if (both && both.calls.length > 0) return both
    unclear ??= both
  }
  return unclear
}

/** "Did you lock the door and turn off the light": all of it is asked. */
function asksWhatWasDone({ words }: Request): boolean {
  return ['did', 'have', 'has', 'had'].includes(words[0]?.key ?? '')
}

const SWITCHED = new Set(['on', 'off'])
const MOVED = new Set(['open', 'closed', 'shut', 'up', 'down'])

/** "The tv and the blinds off and closed", but not "on and off". */
function respectively(request: Request, grammar: Grammar): Meaning | undefined {
  const [first, and, second] = request.words.slice(-3)
  const named = request.words.slice(0, -3)
  if (!first || !second || and?.key !== 'and') return undefined
  const isBoth = [SWITCHED, MOVED].every(states => states.has(first.key) !== states.has(second.key))
  if (!isBoth) return undefined
  const at = named.findIndex(({ key }) => key === 'and')
  const [left, right] = [
    [...named.slice(0, at), first],
    [...named.slice(at + 1), second],
  ].map(part => clear(request.with(part), grammar))
  return at > 0 && left && right ? joined(left, right) : undefined
}

function jointAt({ words, text }: Request, at: number): number | undefined {
  const joint = JOINTS.find(phrase => phrase.every((key, k) => words[at + k]?.key === key))
  const [before, next] = [words[at - 1], words[at]]
  if (!before || !next) return undefined
  if (joint) return joint.length
  return /[,;.&/]/.test(text.slice(before.end, next.start)) ? 0 : undefined
}

function clear(request: Request, grammar: Grammar): Meaning | undefined {
  const reading = grammar.read(request)
  return reading && reading.longestFree === 0 ? meaningOf(grammar, reading) : undefined
}

/** What comes after the first part; after a complaint, an ambiguous name means one of the devices it is about. */
function following(request: Request, { calls, about }: Meaning): Request {
  return about ? request.about(about).among(about) : request.about(devicesOf(calls))
}

/** "It's too cold, turn up the heating": the complaint is only the reason. */
function withoutComplaint(first: Meaning, second: Meaning): Meaning | undefined {
  if (first.about && !second.about && second.calls.length > 0) return second
  return second.about && !first.about && first.calls.length > 0 ? first : undefined
}

function joined(first: Meaning, second: Meaning): Meaning {
  const unclear = [first, second].find(({ kind }) => kind === 'ask' || kind === 'talk')
  if (unclear) return unclear
  return {
    ...MATCHED,
    kind: first.kind === 'act' || second.kind === 'act' ? 'act' : 'tell',
    key: `${first.key} + ${second.key}`,
    score: Math.min(first.score, second.score),
    template: `${first.template} and ${second.template}`,
    calls: [...first.calls, ...second.calls],
    run: async makeCalls => phraseTogether([await first.run(makeCalls), await second.run(makeCalls)]),
  }
}
