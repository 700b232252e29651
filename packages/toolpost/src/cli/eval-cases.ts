import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { closest } from 'fastest-levenshtein'
import { isMap, isNode, LineCounter, parseDocument } from 'yaml'
import type { ToolResult } from '../call/tool-result.ts'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import { fitsGlob } from '../util/text.ts'
import { UsageError } from './terminal.ts'

/** A call with at least these arguments, which fit this schema. */
interface ExpectedCall {
  tool: string
  args?: Record<string, unknown>
  schema?: object
}

/** A question, as `data/eval-cases.schema.json` describes it, with what holds for the whole file. */
export interface EvalCase {
  name: string
  ask: string
  /** Any call is fine if left out. */
  expect: ExpectedCall[] | undefined
  never: string[]
  answer: string | undefined
  given: Record<string, unknown>
}

type Written = Partial<Omit<EvalCase, 'expect'>> & { ask: string; expect?: (string | ExpectedCall)[] }
type Path = (string | number)[]

const ajv = new Ajv({ strict: false, allowUnionTypes: true })

/** Reads a file of cases. Throws a UsageError with the file and the line of the first mistake. */
export function readCases(file: string, tools: readonly string[]): EvalCase[] {
  const lines = new LineCounter()
  const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines })
  const lineOf = (path: Path): number => {
    const around = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
    const pair = isMap(around) && around.items.find(({ key }) => String(key) === path.at(-1))
    const node = pair ? pair.key : document.getIn(path, true)
    return isNode(node) && node.range ? lines.linePos(node.range[0]).line : lineOf(path.slice(0, -1))
  }
  const refuse = (path: Path, problem: string, line = lineOf(path)): never => {
    throw new UsageError(`${file}:${line}: ${problem}`)
  }
  const attempt = (path: Path, check: () => unknown) => {
    try {
      check()
    } catch (error) {
      refuse(path, (error as Error).message)
    }
  }
  const [broken] = document.errors
  if (broken) return refuse([], broken.message.replace(/ at line .*/s, ''), broken.linePos?.[0].line ?? 1)
  const format = JSON.parse(readFileSync(join(packageRoot(), 'data', 'eval-cases.schema.json'), 'utf8'))
  const content = document.toJS() as Pick<Written, 'never' | 'given'> & { cases: Written[] }
  if (!ajv.validate(format, content)) {
    const [error] = ajv.errors ?? []
    const path = error?.instancePath.split('/').slice(1) ?? []
    const key = error?.params.additionalProperty
    if (key !== undefined) return refuse([...path, key], `unknown key '${key}'`)
    return refuse(path, `${path.join('.') || 'the file'} ${error?.message}`)
  }
  return content.cases.map((one, index) => {
    const { ask, name = ask, answer, never = [], given } = one
    const expect = one.expect?.map(call => (typeof call === 'string' ? { tool: call } : call))
    const place = ['cases', index]
    if (!expect && !one.never && answer === undefined && !content.never)
      refuse(place, `'${ask}' checks nothing: add expect, never or answer`)
    for (const [position, { tool, schema }] of (expect ?? []).entries()) {
      const at = [...place, 'expect', position]
      const hint = tools.length > 0 ? `; did you mean '${closest(tool, tools)}'?` : ''
      if (!tools.includes(tool)) refuse(at, `there is no tool '${tool}'${hint}`)
      if (schema) attempt([...at, 'schema'], () => ajv.compile(schema))
    }
    if (answer !== undefined) attempt([...place, 'answer'], () => fits(answer, ''))
    const all = { never: [...(content.never ?? []), ...never], given: { ...content.given, ...given } }
    return { name, ask, expect, answer, ...all }
  })
}

/** Whether a text is the expected one, without case, or fits a `/pattern/flags`. */
function fits(
  expected: string,
  text: string,
  isIn = (whole: string, part: string) => whole === part,
): boolean {
  const [, pattern, flags] = /^\/(.+)\/([a-z]*)$/.exec(expected) ?? []
  if (pattern !== undefined) return new RegExp(pattern, flags).test(text)
  return isIn(text.toLowerCase(), expected.toLowerCase())
}

/** A call that a model made, with the arguments as the tool got them. */
export interface MadeCall {
  tool: string
  args: unknown
  result: ToolResult
  isReadOnly: boolean
}

/** What a model did with a case; with an `error`, it gave no answer. */
type Answered = { calls: readonly MadeCall[]; text: string; seconds: number; tokens: number; error?: string }

export type Outcome = ReturnType<typeof scoreCase>

/** These never reached a tool. */
const NOT_RUN = ['unknown_tool', 'invalid_arguments', 'invalid_schema', 'denied', 'limited']

/** Forbidden are calls of tools that must not run, and unexpected calls that change something. `why` is what is wrong. */
export function scoreCase({ name, ask, expect, never, answer }: EvalCase, answered: Answered) {
  const { calls, text, seconds, tokens, error } = answered
  const matching = (isMeant: (expected: ExpectedCall, call: MadeCall) => boolean | undefined) => {
    const taken = new Set<MadeCall>()
    for (const one of expect ?? []) {
      const found = calls.find(call => !taken.has(call) && one.tool === call.tool && isMeant(one, call))
      if (found) taken.add(found)
    }
    return taken
  }
  const named = matching(() => true)
  const fitting = matching(
    ({ args = {}, schema }, call) => hasAll(args, call.args) && (!schema || ajv.validate(schema, call.args)),
  )
  const isForbidden = (call: MadeCall) => {
    const isUnexpected = expect !== undefined && !call.isReadOnly && !fitting.has(call)
    const hasRun = call.result.success || !NOT_RUN.includes(call.result.code)
    return hasRun && (isUnexpected || never.some(pattern => fitsGlob(call.tool, pattern)))
  }
  const forbidden = calls.filter(isForbidden)
  const rightTool = !expect || (named.size === expect.length && (expect.length > 0 || calls.length === 0))
  const rightArguments = rightTool && (!expect || fitting.size === expect.length)
  const isAnswered = answer === undefined || fits(answer, text, (whole, part) => whole.includes(part))
  const why = [
    error,
    !rightArguments && `called ${callList(calls)} instead of ${callList(expect ?? [])}`,
    forbidden.length > 0 && rightArguments && `must not call ${callList(forbidden)}`,
    !isAnswered && `answered '${text}' without '${answer}'`,
  ].filter(reason => typeof reason === 'string')
  return {
    ...{ name, ask, text, passed: why.length === 0, rightTool, rightArguments, why, seconds, tokens },
    calls: calls.map(({ tool, args, result }) => ({ tool, args, error: result.success ? '' : result.error })),
    needless: expect === undefined ? 0 : calls.length - named.size,
    repairs: calls.reduce((sum, { result }) => sum + (result.repairs?.length ?? 0), 0),
    forbidden: forbidden.length,
  }
}

/** Objects may have more keys than expected. */
function hasAll(expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'string' && typeof actual === 'string') return fits(expected, actual)
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.length === expected.length && expected.every((entry, at) => hasAll(entry, actual[at]))
  if (!isRecord(expected)) return Object.is(expected, actual)
  return isRecord(actual) && Object.entries(expected).every(([key, entry]) => hasAll(entry, actual[key]))
}

export function callList(calls: readonly { tool: string; args?: unknown }[]): string {
  const texts = calls.map(({ tool, args }) => `${tool}(${args === undefined ? '…' : JSON.stringify(args)})`)
  return texts.length === 0 ? 'nothing' : texts.join(', ')
}
