import { didYouMean } from './asked-back.ts'
import type { Grammar } from './grammar.ts'
import { isReference } from './home/reference.ts'
import { type Meaning, saying } from './meaning.ts'
import { isNegative } from './negation.ts'
import { withoutAround } from './politeness.ts'
import type { Request } from './request.ts'
import { type Word, wordSet } from './words.ts'

/*
 * A command among other talk: "that film was awful, turn the tv off". Only the speaker knows whether it is meant.
 */

/** Words for another time, a condition or reported speech. */
const NOT_MEANT = wordSet(
  `if when whenever unless until till after before once while as tomorrow yesterday later soon every
  said says say saying told tell asked ask asks sing sings wrote type write print
  would could should might maybe perhaps imagine suppose pretend or nah nope kidding joking jk`,
)
const MAX_WORDS = 30

/** Asks whether the command among the clauses is meant; `undefined` unless there is exactly one. */
export function saidBeside(
  request: Request,
  grammar: Grammar,
  plainly: (part: Request) => Meaning | undefined,
): Meaning | undefined {
  const clauses = clausesOf(request)
  if (clauses.length < 2 || request.words.length > MAX_WORDS) return undefined
  const found = clauses.flatMap((clause, at) => {
    const said = withoutAround(clause)
    const before = clauses.slice(0, at).flat()
    const meaning = plainly(request.with(said).about(spokenOf(request.with(before), grammar)))
    return meaning?.kind === 'act' ? [{ clause, said, before, meaning }] : []
  })
  const [only, ...others] = found
  const rest = clauses.filter(clause => clause !== only?.clause).flat()
  if (!only || others.length > 0 || isNotMeant(request.with(rest))) return undefined
  // "Kettle on, blub off": the part that was not understood is a command, too.
  if (clauses.some(clause => clause !== only.clause && /^(?:on|off)$/.test(clause.at(-1)?.key ?? '')))
    return undefined
  return saying('ask', didYouMean(sentenceOf(only.said, only.meaning, request)))
}

function isNotMeant(rest: Request): boolean {
  return isNegative(rest) || rest.words.some(({ key }) => NOT_MEANT.has(key))
}

function clausesOf({ words, text }: Request): Word[][] {
  const clauses: Word[][] = [[]]
  for (const [at, word] of words.entries()) {
    const before = words[at - 1]
    const isNew = before && (/[,;.!?–—]/.test(text.slice(before.end, word.start)) || word.key === 'so')
    if (isNew) clauses.push([])
    clauses.at(-1)?.push(word)
  }
  return clauses.filter(clause => clause.length > 0)
}

/** The device mentioned, if there is only one. */
function spokenOf(request: Request, { lexicon }: Grammar): string[] {
  const names = request.words.flatMap((_, at) =>
    (lexicon.list('devices')?.read(request, at) ?? []).flatMap(({ value }) =>
      isReference(value) && value.devices.length === 1 ? value.devices.map(({ call }) => call) : [],
    ),
  )
  const [name, ...others] = new Set(names)
  return name !== undefined && others.length === 0 ? [name] : []
}

const PRONOUNS = new Set(['it', 'that', 'them'])

/** The command with its device named, so that a yes needs no context. */
function sentenceOf(said: readonly Word[], { calls }: Meaning, { text }: Request): string {
  const [call] = calls
  return said
    .map(({ key, start, end }) =>
      PRONOUNS.has(key) && call ? String(call.args.deviceName) : text.slice(start, end),
    )
    .filter(word => word !== '')
    .join(' ')
}
