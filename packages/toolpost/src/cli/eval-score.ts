import type { ToolResult } from '../call/tool-result.ts'
import { isRecord } from '../util/guards.ts'
import { fitsGlob } from '../util/text.ts'
import { type EvalCase, type ExpectedCall, fitsSchema, patternOf } from './eval-cases.ts'

/** A call that a model made, with the arguments as the tool got them. */
export interface MadeCall {
  tool: string
  args: unknown
  result: ToolResult
  isReadOnly: boolean
}

interface Answered {
  calls: readonly MadeCall[]
  text: string
  seconds: number
  tokens: number
  /** The model gave no answer. */
  error?: string | undefined
}

/** One run of one case. */
export type Outcome = ReturnType<typeof scoreCase>

export interface ModelReport {
  model: string
  /** Why it could not be asked, or not to the end. */
  problem?: string
  outcomes: Outcome[]
}

/** These never reached a tool. */
const NOT_RUN = ['unknown_tool', 'invalid_arguments', 'invalid_schema', 'denied', 'limited']

/** Forbidden are calls of tools that must not run, and unexpected calls that change something. `why` is what is wrong. */
export function scoreCase({ name, ask, expect, never, answer }: EvalCase, answered: Answered) {
  const { calls, text, seconds, tokens, error } = answered
  const fits = matching(expect ?? [], calls, isCall)
  const named = matching(expect ?? [], calls, (wanted, call) => wanted.tool === call.tool)
  const hasRun = ({ result }: MadeCall) => result.success || !NOT_RUN.includes(result.code)
  const isUnexpected = (call: MadeCall) => expect !== undefined && !call.isReadOnly && !fits.has(call)
  const isNever = ({ tool }: MadeCall) => never.some(pattern => fitsGlob(tool, pattern))
  const forbidden = calls.filter(call => hasRun(call) && (isNever(call) || isUnexpected(call)))
  const rightTool =
    expect === undefined || (named.size === expect.length && (expect.length > 0 || calls.length === 0))
  const rightArguments = rightTool && (expect === undefined || fits.size === expect.length)
  const why = [
    error,
    !rightArguments && `called ${callList(calls)} instead of ${callList(expect ?? [])}`,
    forbidden.length > 0 && rightArguments && `must not call ${callList(forbidden)}`,
    answer !== undefined && !isIn(answer, text) && `answered '${text}' without '${answer}'`,
  ].filter(reason => typeof reason === 'string')
  const made = calls.map(({ tool, args, result }) => ({
    tool,
    args,
    ...(!result.success && { error: result.error }),
  }))
  const needless = expect === undefined ? 0 : calls.length - named.size
  const repairs = calls.reduce((sum, { result }) => sum + (result.repairs?.length ?? 0), 0)
  const counts = { needless, repairs, forbidden: forbidden.length, seconds, tokens }
  return { name, ask, calls: made, text, passed: why.length === 0, rightTool, rightArguments, ...counts, why }
}

/** The calls that were expected, each for one expectation. */
function matching(
  expected: readonly ExpectedCall[],
  calls: readonly MadeCall[],
  isMeant: (expected: ExpectedCall, call: MadeCall) => boolean,
): Set<MadeCall> {
  const taken = new Set<MadeCall>()
  for (const one of expected) {
    const found = calls.find(call => !taken.has(call) && isMeant(one, call))
    if (found) taken.add(found)
  }
  return taken
}

function isCall({ tool, args = {}, schema }: ExpectedCall, call: MadeCall): boolean {
  return tool === call.tool && hasAll(args, call.args) && (!schema || fitsSchema(schema, call.args))
}

/** Objects may have more keys than expected; texts are compared without case, or with a `/pattern/`. */
function hasAll(expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'string' && typeof actual === 'string')
    return patternOf(expected)?.test(actual) ?? expected.toLowerCase() === actual.toLowerCase()
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.length === expected.length && expected.every((entry, at) => hasAll(entry, actual[at]))
  if (!isRecord(expected)) return Object.is(expected, actual)
  return isRecord(actual) && Object.entries(expected).every(([key, entry]) => hasAll(entry, actual[key]))
}

function isIn(answer: string, text: string): boolean {
  return patternOf(answer)?.test(text) ?? text.toLowerCase().includes(answer.toLowerCase())
}

export function callList(calls: readonly { tool: string; args?: unknown }[]): string {
  const texts = calls.map(({ tool, args }) => `${tool}(${args === undefined ? '…' : JSON.stringify(args)})`)
  return texts.length === 0 ? 'nothing' : texts.join(', ')
}

/** The figures of a model over all its runs; `seconds` per case. */
export function totals({ outcomes }: ModelReport) {
  const count = outcomes.length
  const sum = (key: keyof Outcome) => outcomes.reduce((total, outcome) => total + Number(outcome[key]), 0)
  const share = (key: keyof Outcome) => (count === 0 ? 0 : sum(key) / count)
  return {
    ...{
      count,
      passed: sum('passed'),
      score: share('passed'),
      seconds: share('seconds'),
      tokens: sum('tokens'),
    },
    ...{ rightTool: share('rightTool'), rightArguments: share('rightArguments') },
    ...{ needless: sum('needless'), repairs: sum('repairs'), forbidden: sum('forbidden') },
  }
}
