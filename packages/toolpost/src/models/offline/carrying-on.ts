import { lastQuestion, type MadeCall, madeCalls, type SoFar } from './conversation-so-far.ts'
import { startOf } from './following-words.ts'
import type { Grammar, ToolSentence } from './grammar.ts'
import { meaningOf } from './home/meanings.ts'
import { matchSentence, prepareSentence, type Sentence } from './match.ts'
import type { Meaning } from './meaning.ts'
import type { Request } from './request.ts'
import { unplaced } from './words.ts'

/*
 * Short requests that carry on with the last result: "plus 4", "and in Tokyo?", "30".
 */

const SIGN =
  '{sign:plus=+|minus=-|times=*|x=*|multiplied by=*|divided by=/|over=/|to the power of=^|+|-|*|/|^} {amount#number}'
const IT = '(that|it|this|the result)'
const CALCULATIONS = [
  `[and|then|now] [${IT}] ${SIGN}`,
  `[and|then|now] add {amount#number} [to ${IT}] {sign=+}`,
  `[and|then|now] (subtract|take) {amount#number} [(from|off) ${IT}] {sign=-}`,
  `[and|then|now] multiply ${IT} (by|with) {amount#number} {sign=*}`,
  `[and|then|now] divide ${IT} by {amount#number} {sign=/}`,
  `[and|then|now] (half|halve) [of] ${IT} {sign=/} {amount=2}`,
  `[and|then|now] double ${IT} {sign=*} {amount=2}`,
  `[and|then|now] [${IT}] squared {sign=^} {amount=2}`,
]
const SHARE = '[and|what about|how about|and what about] {amount#percent}'

const MORE = '[make it] [<bit>] {direction:more=up|less=down|higher=up|lower=down}'

let prepared: { calculations: Sentence[]; share: Sentence; more: Sentence } | undefined

interface CarryOn {
  grammar: Grammar
  before: SoFar
}

/** What a request means as a continuation of the last call; `undefined` if it is not one. */
export function carryingOn(request: Request, { grammar, before }: CarryOn): Meaning | undefined {
  const last = madeCalls(before).at(-1)
  return (
    last &&
    (calculatedOn(request, last, grammar) ??
      louder(request, last, grammar) ??
      otherPlace(request, last, { grammar, before }))
  )
}

/** "Plus 4" after a calculation. */
function calculatedOn(request: Request, { name, args }: MadeCall, grammar: Grammar): Meaning | undefined {
  const tool = grammar.tool('math_eval')
  const before = args?.expression
  if (!tool || name !== tool.name || typeof before !== 'string') return undefined
  const expression = withShare(request, before) ?? withSign(request, before)
  const called = grammar.sentences.find(one => one.tool === tool)
  return called && expression !== undefined ? meant(grammar, called, { expression }) : undefined
}

/** "A bit less" after the volume. */
function louder(request: Request, { name }: MadeCall, grammar: Grammar): Meaning | undefined {
  const tool = grammar.tool('volume')
  const args = tool && name === tool.name ? matchSentence(sentences().more, request)?.args : undefined
  const step = grammar.sentences.find(one => one.tool === tool && one.sentence.means === 'step')
  return args && step ? meant(grammar, step, args) : undefined
}

function meant(grammar: Grammar, called: ToolSentence, args: Record<string, unknown>): Meaning | undefined {
  return meaningOf(grammar, { ...called, args, score: 1, longestFree: 0 })
}

function withSign(request: Request, before: string): string | undefined {
  for (const sentence of sentences().calculations) {
    const { sign, amount } = matchSentence(sentence, request)?.args ?? {}
    if (amount !== undefined) return `(${before}) ${sign} ${amount}`
  }
  return undefined
}

/** "And 20 %?" after a percentage of something. */
function withShare(request: Request, before: string): string | undefined {
  const [, of] = /^[\d.]+ ?%( of .+)$/.exec(before) ?? []
  const amount = of && matchSentence(sentences().share, request)?.args.amount
  return amount === undefined ? undefined : `${amount}%${of}`
}

function sentences() {
  const parse = (template: string) => prepareSentence(template, {})
  prepared ??= { calculations: CALCULATIONS.map(parse), share: parse(SHARE), more: parse(MORE) }
  return prepared
}

/** "And in Tokyo?" after the time. */
function otherPlace(request: Request, { name }: MadeCall, { grammar, before }: CarryOn): Meaning | undefined {
  const start = startOf(request)
  const isTime = name === grammar.tool('datetime')?.name && lastQuestion(before) !== undefined
  if (!isTime || start === undefined) return undefined
  const rest = request.words.slice(request.words[start]?.key === 'in' ? start + 1 : start)
  // "Now movie time" is not a place.
  if (grammar.read(request.with(rest))) return undefined
  const reading = grammar.read(request.with([...['time', 'in'].map(unplaced), ...rest]))
  return reading && reading.tool.name === name ? meaningOf(grammar, reading) : undefined
}
