import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import { closest } from 'fastest-levenshtein'
import { isMap, isNode, LineCounter, parseDocument, stringify } from 'yaml'
import type { ToolResult } from '../call/tool-result.ts'
import type { ChatTurn } from '../gateway/api-types.ts'
import type { CallNotice } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import { readJson } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import { historyFile } from '../project/project-history.ts'
import { isRecord } from '../util/guards.ts'
import { packageJson, packageRoot } from '../util/package-root.ts'
import { fitsGlob } from '../util/text.ts'
import type { Context } from './context.ts'
import { EXIT, numberOf, stop, UsageError } from './process.ts'
import { asking, counted, print, printJson, printTable, say } from './terminal.ts'

const NEW_FILE = 'cases.yaml'
/** Failures that every other question would meet too. */
const HOPELESS =
  /^(unknown_provider|missing_key|missing_package|unreachable|model_not_found|no_tools|unauthorized)$/

interface ModelReport {
  model: string
  problem?: string
  outcomes: Outcome[]
}

/** `toolpost eval [cases]`: asks every model every question, and scores the calls it makes. */
export async function runEval({ open, words: [file], flags }: Context<[string?]>): Promise<number> {
  const project = await open()
  if (file === 'init') return writeCases(project, flags.fromHistory)
  const repeat = numberOf(flags, 'repeat', 1, 100) ?? 1
  const min = numberOf(flags, 'min', 0, 1) ?? 0
  if (file === undefined && project.file !== undefined)
    throw new UsageError('Which cases? toolpost eval FILE; `toolpost eval init` writes a file to begin with')
  await project.ready()
  const names = project.tools.getTools().map(tool => tool.name)
  const cases = readCases(file ?? join(packageRoot(), 'example', 'cases.yaml'), names)
  const all = Array.from({ length: repeat }, () => cases).flat()
  const reports: ModelReport[] = []
  for (const model of (flags.model as string[] | undefined) ?? [undefined])
    reports.push(await reportOn(model, all, project, flags.run))
  if (flags.html !== undefined) writeFileSync(flags.html, pageOf(reports, cases))
  if (flags.json) printJson(reports)
  else printReports(reports)
  const isFine = reports.every(report => report.problem === undefined && scoreOf(report) >= min)
  return isFine ? EXIT.ok : EXIT.failed
}

/** Asks a model in the project, whose tools are mocked unless they are to run. */
async function reportOn(
  model: string | undefined,
  cases: readonly EvalCase[],
  project: Project,
  isReal = false,
): Promise<ModelReport> {
  const { config, executor, logger, bigResults } = project
  const report: ModelReport = { model: model ?? 'model', outcomes: [] }
  let given: Record<string, unknown> = {}
  /** The arguments as the tools get them, by the id of the call. */
  const fitted = new Map<string | undefined, unknown>()
  // Inside all others: policy and limits hold as usual.
  const remove = executor.use(async (call, next) => {
    fitted.set(call.id, call.args)
    if (isReal || call.failure) return next()
    const result = Object.hasOwn(given, call.name) ? given[call.name] : 'Done.'
    // What a model reads, as with the tools of MCP servers.
    const text = isRecord(result) && typeof result.text === 'string' ? { text: result.text } : {}
    return { success: true, result, ...text, tool_name: call.name, execution_time_ms: 0 }
  })
  try {
    const { chooseClient } = await import('../models/index.ts')
    // A model by itself, without the fast path before it.
    const wanted = { model, config: { ...config, fastPath: false }, executor, logger }
    const { client, name } = await chooseClient(wanted)
    report.model = name
    if (process.stderr.isTTY) say(`Asking ${name} ${counted(cases.length, 'question')} …`)
    const ask = isReal ? asking() : async () => ({ action: 'accept' as const })
    const options = { ...config.models, bigResults, signal: stop.signal, origin: 'eval', ask }
    for (const one of cases) {
      const calls: MadeCall[] = []
      const startedAt = performance.now()
      given = one.given
      const onCall = (event: CallNotice) => {
        if (event.type !== 'end') return
        const { call, result } = event
        const isReadOnly = project.tools.findTool(call.name)?.readOnly === true
        calls.push({ tool: call.name, args: fitted.get(call.id) ?? call.args, result, isReadOnly })
      }
      const answer = await client.ask(one.ask, { ...options, onCall }).catch((error: unknown) => {
        if (!(error instanceof ModelError) || HOPELESS.test(error.code)) throw error
        return { text: '', usage: undefined, error: error.message }
      })
      const { input = 0, output = 0 } = answer.usage ?? {}
      const seconds = (performance.now() - startedAt) / 1_000
      report.outcomes.push(scoreCase(one, { ...answer, calls, seconds, tokens: input + output }))
    }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    report.problem = error.message
  }
  remove()
  return report
}

const sumOf = (outcomes: readonly Outcome[], key: keyof Outcome) =>
  outcomes.reduce((total, outcome) => total + Number(outcome[key]), 0)
const scoreOf = ({ outcomes }: ModelReport) => sumOf(outcomes, 'passed') / (outcomes.length || 1)
const percent = (share: number) => `${Math.round(100 * share)} %`

/** How a model did in all: a row of the table. */
function totals(report: ModelReport) {
  const { model, outcomes } = report
  const count = outcomes.length
  const share = (key: keyof Outcome) => (count === 0 ? '–' : percent(sumOf(outcomes, key) / count))
  const score = `${scoreOf(report).toFixed(2)} (${sumOf(outcomes, 'passed')} of ${count})`
  return {
    model,
    score: count === 0 ? '–' : score,
    'Right tool': share('rightTool'),
    'Right args': share('rightArguments'),
    Needless: sumOf(outcomes, 'needless'),
    Repairs: sumOf(outcomes, 'repairs'),
    Forbidden: sumOf(outcomes, 'forbidden'),
    Seconds: (sumOf(outcomes, 'seconds') / (count || 1)).toFixed(2),
    Tokens: sumOf(outcomes, 'tokens'),
  }
}

function printReports(reports: readonly ModelReport[]): void {
  printTable(reports.map(totals))
  for (const { model, outcomes, problem } of reports) {
    for (const { name, why } of outcomes.filter(({ passed }) => !passed))
      print(`✗ ${model}: ${name}\n    ${why.join('\n    ')}`)
    const done = outcomes.length === 0 ? 'was not asked' : `stopped after ${outcomes.length} questions`
    if (problem !== undefined) say(`⚠️ ${model} ${done}: ${problem}`)
  }
}

/** The results as one HTML page that needs nothing else. */
function pageOf(reports: readonly ModelReport[], cases: readonly EvalCase[]): string {
  const ranked = reports.toSorted((a, b) => scoreOf(b) - scoreOf(a))
  const cards = ranked.map(report => {
    const share = scoreOf(report)
    return { ...totals(report), share, percent: percent(share), problem: report.problem }
  })
  const runOf = ({ passed, calls, why, text }: Outcome) => {
    const lines = calls.map(call => callList([call]) + (call.error && ` → ${call.error}`))
    return { mark: passed ? 'good' : 'bad', word: passed ? 'right' : 'wrong', calls: lines, why, text }
  }
  const rows = cases.map(({ name, ask }) => {
    const runsOf = ({ outcomes }: ModelReport) => outcomes.filter(each => each.name === name).map(runOf)
    return { name, ask: ask === name ? '' : ask, cells: ranked.map(report => ({ runs: runsOf(report) })) }
  })
  const title = `${counted(cases.length, 'case')}, ${counted(reports.length, 'model')}`
  const time = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const template = readFileSync(join(packageRoot(), 'data', 'eval-report.html'), 'utf8')
  return filled(template, { title, time, cards, rows })
}

/** Fills a template: `{{name}}` is a text, `{{#name}}…{{/name}}` repeats for a list, whose own texts are `{{.}}`. */
function filled(template: string, view: Record<string, unknown>): string {
  const escaped = (text: string) => text.replace(/[&<>"']/g, each => `&#${each.charCodeAt(0)};`)
  return template.replace(/\{\{#(\w+)\}\}(.*?)\{\{\/\1\}\}|\{\{(.+?)\}\}/gs, (_, list, inner, name) => {
    if (list === undefined) return escaped(String(view[name] ?? ''))
    const entries = view[list] as (string | Record<string, unknown>)[]
    return entries.map(each => filled(inner, typeof each === 'string' ? { '.': each } : each)).join('')
  })
}

const STARTER = { ask: 'What is 12 % of 85?', expect: ['math_eval'], given: { math_eval: { result: 10.2 } } }
const HEAD = `# Cases for \`toolpost eval ${NEW_FILE}\`; see docs/testing.md.
# Check what is expected: a case from the history says what was called, not what should have been.
`

/** `toolpost eval init [--from-history]`: writes a file of cases, from past chats if asked. */
function writeCases(project: Project, isFromHistory = false): number {
  if (existsSync(NEW_FILE)) throw new UsageError(`${NEW_FILE} is already there; move it first`)
  const cases = isFromHistory ? pastCases(project) : [STARTER]
  if (cases.length > 0) writeFileSync(NEW_FILE, `${HEAD}${stringify({ cases })}`)
  const none = 'No past chats. `toolpost up` keeps them; ask it something first.'
  say(cases.length > 0 ? `Wrote ${NEW_FILE} with ${counted(cases.length, 'case')}.` : none)
  return cases.length > 0 ? EXIT.ok : EXIT.failed
}

/** The first question of every chat that led to calls: later ones may refer to what was said before. */
function pastCases(project: Project): object[] {
  const folder = join(dirname(historyFile(project) ?? ''), 'conversations')
  const files = existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.json')) : []
  const cases = new Map<string, object>()
  for (const file of files) {
    const { turns = [] } = Object(readJson(join(folder, file))) as { turns?: ChatTurn[] }
    const { question: ask = '', parts = [] } = turns[0] ?? {}
    const calls = parts.flatMap(part => (part.kind === 'call' && part.call.result ? [part.call] : []))
    const given = calls.flatMap(({ name, result }) => (result?.success ? [[name, result.result]] : []))
    const expect = calls.map(({ name, args }) => ({ tool: name, args }))
    if (expect.length > 0) cases.set(ask, { ask, expect, given: Object.fromEntries(given) })
  }
  return [...cases.values()]
}

/** A call with at least these arguments, which fit this schema. */
type ExpectedCall = { tool: string; args?: Record<string, unknown>; schema?: object }

/** A question as it is written; `data/eval-cases.schema.json` has the format. */
interface WrittenCase {
  ask: string
  name?: string
  /** Any call is fine if left out. */
  expect?: (string | ExpectedCall)[]
  never?: string[]
  answer?: string | undefined
  given?: Record<string, unknown>
}

/** A question, with what holds for the whole file. */
type EvalCase = Required<Omit<WrittenCase, 'expect'>> & { expect: ExpectedCall[] | undefined }

const ajv = new Ajv({ strict: false, allowUnionTypes: true })

/** Reads a file of cases. Throws a UsageError with the file and the line of the first mistake. */
function readCases(file: string, tools: readonly string[]): EvalCase[] {
  const lines = new LineCounter()
  const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines, prettyErrors: false })
  const refuse = (offset: number, problem: string): never => {
    throw new UsageError(`${file}:${lines.linePos(offset).line}: ${problem}`)
  }
  /** Where a value is, or its key. */
  const offsetOf = (path: (string | number)[]) => {
    const around = document.getIn(path.slice(0, -1), true)
    const pair = isMap(around) ? around.items.find(({ key }) => String(key) === path.at(-1)) : undefined
    const node = pair ? pair.key : document.getIn(path, true)
    return isNode(node) ? (node.range?.[0] ?? 0) : 0
  }
  for (const { pos, message } of document.errors) refuse(pos[0], message)
  const content = document.toJS() as Pick<WrittenCase, 'never' | 'given'> & { cases: WrittenCase[] }
  ajv.validate(packageJson('data/eval-cases.schema.json'), content)
  for (const { instancePath, params, message } of ajv.errors ?? []) {
    const path = instancePath.split('/').slice(1)
    const key = params.additionalProperty
    if (key !== undefined) refuse(offsetOf([...path, key]), `unknown key '${key}'`)
    refuse(offsetOf(path), `${path.join('.') || 'the file'} ${message}`)
  }
  return content.cases.map((written, index) => {
    const { ask, name = ask, answer } = written
    const expect = written.expect?.map(call => (typeof call === 'string' ? { tool: call } : call))
    const never = [content.never ?? [], written.never ?? []].flat()
    const attempt = (place: (string | number)[], check: () => void) => {
      try {
        check()
      } catch (error) {
        refuse(offsetOf(['cases', index, ...place]), (error as Error).message)
      }
    }
    if (!expect && never.length === 0 && answer === undefined)
      refuse(offsetOf(['cases', index]), `'${ask}' checks nothing: add expect, never or answer`)
    for (const [at, call] of (expect ?? []).entries()) attempt(['expect', at], () => checkCall(call, tools))
    attempt(['answer'], () => fits(answer ?? '', ''))
    return { name, ask, expect, answer, never, given: { ...content.given, ...written.given } }
  })
}

/** Throws if there is no such tool, or the schema is unusable. */
function checkCall({ tool, schema }: ExpectedCall, tools: readonly string[]): void {
  const hint = tools.length > 0 ? `; did you mean '${closest(tool, tools)}'?` : ''
  if (!tools.includes(tool)) throw new Error(`there is no tool '${tool}'${hint}`)
  if (schema) ajv.compile(schema)
}

/** Whether a text is the expected one, or has it somewhere, without case; or fits a `/pattern/flags`. */
function fits(expected: string, text: string, { somewhere = false } = {}): boolean {
  const [, pattern, flags] = /^\/(.+)\/([a-z]*)$/.exec(expected) ?? []
  if (pattern !== undefined) return new RegExp(pattern, flags).test(text)
  const [given, wanted] = [text.toLowerCase(), expected.toLowerCase()]
  return somewhere ? given.includes(wanted) : given === wanted
}

/** A call that a model made, with the arguments as the tool got them. */
type MadeCall = { tool: string; args: unknown; result: ToolResult; isReadOnly: boolean }
/** What a model did with a case; with an `error`, it gave no answer. */
type Answered = { calls: readonly MadeCall[]; text: string; seconds: number; tokens: number; error?: string }
type Outcome = ReturnType<typeof scoreCase>

/** These never reached a tool. */
const NOT_RUN = ['unknown_tool', 'invalid_arguments', 'invalid_schema', 'denied', 'limited']

/** Forbidden are calls of tools that must not run, and unexpected calls that change something. `why` is what is wrong. */
function scoreCase({ name, ask, expect, never, answer }: EvalCase, answered: Answered) {
  const { calls, text, seconds, tokens, error } = answered
  const matching = (isMeant: (expected: ExpectedCall, call: MadeCall) => boolean) => {
    const taken = new Set<MadeCall>()
    for (const one of expect ?? []) {
      const found = calls.find(call => !taken.has(call) && one.tool === call.tool && isMeant(one, call))
      if (found) taken.add(found)
    }
    return taken
  }
  const named = matching(() => true)
  const fitting = matching(
    ({ args = {}, schema = {} }, call) => hasAll(args, call.args) && ajv.validate(schema, call.args),
  )
  const forbidden = calls.filter(call => {
    const isUnexpected = expect !== undefined && !call.isReadOnly && !fitting.has(call)
    const hasRun = call.result.success || !NOT_RUN.includes(call.result.code)
    return hasRun && (isUnexpected || never.some(pattern => fitsGlob(call.tool, pattern)))
  })
  const rightTool = !expect || (named.size === expect.length && (expect.length > 0 || calls.length === 0))
  const rightArguments = rightTool && (!expect || fitting.size === expect.length)
  const isAnswered = answer === undefined || fits(answer, text, { somewhere: true })
  const why = [
    error,
    !rightArguments && `called ${callList(calls)} instead of ${callList(expect ?? [])}`,
    forbidden.length > 0 && rightArguments && `must not call ${callList(forbidden)}`,
    !isAnswered && `answered '${text}' without '${answer}'`,
  ].filter(reason => typeof reason === 'string')
  return {
    name,
    ask,
    text,
    calls: calls.map(({ tool, args, result }) => ({ tool, args, error: result.success ? '' : result.error })),
    passed: why.length === 0,
    why,
    rightTool,
    rightArguments,
    needless: expect === undefined ? 0 : calls.length - named.size,
    repairs: calls.reduce((sum, { result }) => sum + (result.repairs?.length ?? 0), 0),
    forbidden: forbidden.length,
    seconds,
    tokens,
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

function callList(calls: readonly { tool: string; args?: unknown }[]): string {
  const texts = calls.map(({ tool, args }) => `${tool}(${args === undefined ? '…' : JSON.stringify(args)})`)
  return texts.length === 0 ? 'nothing' : texts.join(', ')
}
