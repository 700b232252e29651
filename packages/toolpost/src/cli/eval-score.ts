import type { ToolResult } from '../call/tool-result.ts'
import { fitsGlob } from '../util/glob.ts'
import { isRecord } from '../util/guards.ts'
import { type EvalCase, type ExpectedCall, fitsSchema, patternOf } from './eval-cases.ts'

/** A call that a model made. */
export interface MadeCall {
  tool: string
  /** As the tool got them. */
  args: unknown
  result: ToolResult
  isReadOnly: boolean
}

/** One run of one case. */
export interface Outcome {
  name: string
  ask: string
  calls: { tool: string; args: unknown; error?: string }[]
  text: string
  passed: boolean
  rightTool: boolean
  rightArguments: boolean
  /** Calls that nobody expected. */
  needless: number
  repairs: number
  /** Calls of tools that must not run, and unexpected calls that change something. */
  forbidden: number
  seconds: number
  tokens: number
  /** What is wrong, one sentence each. */
  why: string[]
}

export interface ModelReport {
  model: string
  /** Why it could not be asked, or not to the end. */
  problem?: string
  outcomes: Outcome[]
}

interface Answered {
  calls: readonly MadeCall[]
  text: string
  seconds: number
  tokens: number
  /** The model gave no answer. */
  error?: string | undefined
}

/** These never reached a tool. */
const NOT_RUN = ['unknown_tool', 'invalid_arguments', 'invalid_schema', 'denied', 'limited']

export function scoreCase(one: EvalCase, { calls, text, seconds, tokens, error }: Answered): Outcome {
  const { expect, never, answer } = one
  const fits = matching(expect ?? [], calls, isCall)
  const named = matching(expect ?? [], calls, (wanted, call) => wanted.tool === call.tool)
  const hasRun = ({ result }: MadeCall) => result.success || !NOT_RUN.includes(result.code)
  const isForbidden = (call: MadeCall) =>
    hasRun(call) &&
    (never.some(pattern => fitsGlob(call.tool, pattern)) ||
      (expect !== undefined && !call.isReadOnly && !fits.has(call)))
  const forbidden = calls.filter(isForbidden)
  const rightTool =
    expect === undefined || (named.size === expect.length && (expect.length > 0 || calls.length === 0))
  const rightArguments = rightTool && (expect === undefined || fits.size === expect.length)
  const why = [
    error,
    !rightArguments && `called ${callList(calls)} instead of ${callList(expect ?? [])}`,
    forbidden.length > 0 && rightArguments && `must not call ${callList(forbidden)}`,
    answer !== undefined && !isIn(answer, text) && `answered '${text}' without '${answer}'`,
  ].filter(reason => typeof reason === 'string')
  return {
    name: one.name,
    ask: one.ask,
    calls: calls.map(({ tool, args, result }) => ({
      tool,
      args,
      ...(!result.success && { error: result.error }),
    })),
    text,
    passed: why.length === 0,
    rightTool,
    rightArguments,
    needless: expect === undefined ? 0 : calls.length - named.size,
    repairs: calls.reduce((sum, { result }) => sum + (result.repairs?.length ?? 0), 0),
    forbidden: forbidden.length,
    seconds,
    tokens,
    why,
  }
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
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((entry, index) => hasAll(entry, actual[index]))
    )
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

/** The figures of a model over all its runs. */
export function totals({ outcomes }: ModelReport) {
  const count = outcomes.length
  const sum = (read: (outcome: Outcome) => number | boolean) =>
    outcomes.reduce((total, outcome) => total + Number(read(outcome)), 0)
  const share = (read: (outcome: Outcome) => boolean) => (count === 0 ? 0 : sum(read) / count)
  return {
    count,
    passed: sum(({ passed }) => passed),
    score: share(({ passed }) => passed),
    rightTool: share(({ rightTool }) => rightTool),
    rightArguments: share(({ rightArguments }) => rightArguments),
    needless: sum(({ needless }) => needless),
    repairs: sum(({ repairs }) => repairs),
    forbidden: sum(({ forbidden }) => forbidden),
    /** Per case. */
    seconds: count === 0 ? 0 : sum(({ seconds }) => seconds) / count,
    tokens: sum(({ tokens }) => tokens),
  }
}
