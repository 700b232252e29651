import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { closest } from 'fastest-levenshtein'
import { type Document, isMap, isNode, isSeq, LineCounter, parseDocument } from 'yaml'
import type { ToolResult } from '../call/tool-result.ts'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import { fitsGlob } from '../util/text.ts'
import { UsageError } from './exit.ts'

interface ExpectedCall {
  tool: string
  /** Arguments the call must have; it may have others. */
  args?: Record<string, unknown>
  /** A JSON Schema that its arguments must fit. */
  schema?: object
}

export interface EvalCase {
  name: string
  ask: string
  /** The calls that answer the question; `[]` for none. Any call is fine if left out. */
  expect: ExpectedCall[] | undefined
  /** Tools that must not run: names with `*` and `?`. */
  never: string[]
  /** A text in the answer, or a `/pattern/`. */
  answer: string | undefined
  given: Record<string, unknown>
}

type Written = Partial<Omit<EvalCase, 'expect'>> & { ask: string; expect?: (string | ExpectedCall)[] }
type Path = (string | number)[]

const ajv = new Ajv({ strict: false, allowUnionTypes: true })

/** Reads a file of cases. Throws a UsageError with the file and the line of the first mistake. */
export function readCases(file: string, tools: readonly string[]): EvalCase[] {
  const lines = new LineCounter()
  const document = parseDocument(readText(file), { lineCounter: lines })
  const refuse = (at: Path | number, problem: string): never => {
    const line = typeof at === 'number' ? at : lines.linePos(startOf(document, at)).line
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
  if (broken) return refuse(broken.linePos?.[0].line ?? 1, broken.message.replace(/ at line .*/s, ''))
  const format = JSON.parse(readFileSync(join(packageRoot(), 'data', 'eval-cases.schema.json'), 'utf8'))
  const content = document.toJS() as Pick<Written, 'never' | 'given'> & { cases: Written[] }
  if (!ajv.validate(format, content)) {
    const [{ instancePath = '', message = '', params: { additionalProperty: key } = {} } = {}] =
      ajv.errors ?? []
    const path = instancePath.split('/').slice(1)
    if (key !== undefined) return refuse([...path, key], `unknown key '${key}'`)
    return refuse(path, `${path.join('.') || 'the file'} ${message}`)
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
    if (answer !== undefined) attempt([...place, 'answer'], () => patternOf(answer))
    const all = { never: [...(content.never ?? []), ...never], given: { ...content.given, ...given } }
    return { name, ask, expect, answer, ...all }
  })
}

/** Where the last key of the path is, or the last entry. */
function startOf(document: Document, path: Path): number {
  if (path.length === 0) return 0
  const around = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const last = String(path.at(-1))
  const pair = isMap(around) ? around.items.find(({ key }) => String(key) === last) : undefined
  const node = pair?.key ?? (isSeq(around) ? around.items[Number(last)] : undefined)
  return isNode(node) && node.range ? node.range[0] : startOf(document, path.slice(0, -1))
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`Cannot read the cases in ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** The expression in `/pattern/flags`; `undefined` for a plain text. */
function patternOf(text: string): RegExp | undefined {
  const [, pattern, flags] = /^\/(.+)\/([a-z]*)$/.exec(text) ?? []
  return pattern === undefined ? undefined : new RegExp(pattern, flags)
}

/** A call that a model made, with the arguments as the tool got them. */
export interface MadeCall {
  tool: string
  args: unknown
  result: ToolResult
  isReadOnly: boolean
}

/** What a model did with a case; with an `error`, it gave no answer. */
interface Answered {
  calls: readonly MadeCall[]
  text: string
  seconds: number
  tokens: number
  error: string | undefined
}

export type Outcome = ReturnType<typeof scoreCase>

/** These never reached a tool. */
const NOT_RUN = ['unknown_tool', 'invalid_arguments', 'invalid_schema', 'denied', 'limited']

/** Forbidden are calls of tools that must not run, and unexpected calls that change something. `why` is what is wrong. */
export function scoreCase({ name, ask, expect, never, answer }: EvalCase, answered: Answered) {
  const { calls, text, seconds, tokens, error } = answered
  const wanted = expect ?? []
  const fits = matching(wanted, calls, isCall)
  const named = matching(wanted, calls, (one, call) => one.tool === call.tool)
  const hasRun = ({ result }: MadeCall) => result.success || !NOT_RUN.includes(result.code)
  const isUnexpected = (call: MadeCall) => expect !== undefined && !call.isReadOnly && !fits.has(call)
  const isNever = ({ tool }: MadeCall) => never.some(pattern => fitsGlob(tool, pattern))
  const forbidden = calls.filter(call => hasRun(call) && (isNever(call) || isUnexpected(call)))
  const rightTool = !expect || (named.size === expect.length && (expect.length > 0 || calls.length === 0))
  const rightArguments = rightTool && (!expect || fits.size === expect.length)
  const isAnswered =
    answer === undefined ||
    (patternOf(answer)?.test(text) ?? text.toLowerCase().includes(answer.toLowerCase()))
  const why = [
    error,
    !rightArguments && `called ${callList(calls)} instead of ${callList(wanted)}`,
    forbidden.length > 0 && rightArguments && `must not call ${callList(forbidden)}`,
    !isAnswered && `answered '${text}' without '${answer}'`,
  ].filter(reason => typeof reason === 'string')
  const made = calls.map(({ tool, args, result }) => ({
    ...{ tool, args, error: result.success ? undefined : result.error },
  }))
  const needless = expect === undefined ? 0 : calls.length - named.size
  const repairs = calls.reduce((sum, { result }) => sum + (result.repairs?.length ?? 0), 0)
  const counts = { needless, repairs, forbidden: forbidden.length, seconds, tokens }
  return { name, ask, calls: made, text, passed: why.length === 0, rightTool, rightArguments, ...counts, why }
}

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
  return tool === call.tool && hasAll(args, call.args) && (!schema || ajv.validate(schema, call.args))
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

export function callList(calls: readonly { tool: string; args?: unknown }[]): string {
  const texts = calls.map(({ tool, args }) => `${tool}(${args === undefined ? '…' : JSON.stringify(args)})`)
  return texts.length === 0 ? 'nothing' : texts.join(', ')
}
