import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import type { ChatTurn } from '../gateway/api-types.ts'
import type { AiClient } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import { readJson } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import { historyFile } from '../project/project-history.ts'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import type { Context } from './context.ts'
import { callList, type EvalCase, type MadeCall, type Outcome, readCases, scoreCase } from './eval-cases.ts'
import { EXIT, stop, UsageError } from './exit.ts'
import { asking, print, printJson, printList, progressLine, say } from './terminal.ts'

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
  const { project } = await open()
  if (file === 'init') return writeCases(project, flags.fromHistory)
  const [repeat, min] = [Number(flags.repeat ?? 1), Number(flags.min ?? 0)]
  if (!(Number.isInteger(repeat) && repeat >= 1 && repeat <= 100))
    throw new UsageError(`--repeat expects a whole number from 1 to 100, got '${flags.repeat}'`)
  if (!(min >= 0 && min <= 1)) throw new UsageError(`--min expects a number from 0 to 1, got '${flags.min}'`)
  if (file === undefined && project.file !== undefined)
    throw new UsageError('Which cases? toolpost eval FILE; `toolpost eval init` writes a file to begin with')
  await project.ready()
  const names = project.tools.getTools().map(tool => tool.name)
  const cases = readCases(file ?? join(packageRoot(), 'example', 'cases.yaml'), names)
  const all = Array.from({ length: repeat }, () => cases).flat()
  const ask = asker(project, flags.run ?? false)
  const reports: ModelReport[] = []
  for (const model of (flags.model as string[] | undefined) ?? [undefined])
    reports.push(await reportOn(model, all, project, ask))
  if (flags.html !== undefined) writeFileSync(flags.html, pageOf(reports))
  if (flags.json) printJson(reports)
  else printReports(reports)
  const isFine = reports.every(report => report.problem === undefined && totals(report).score >= min)
  return isFine ? EXIT.ok : EXIT.failed
}

type AskCase = (client: AiClient, one: EvalCase) => Promise<Outcome>

/** Asks in the project, whose tools are mocked unless they are to run. Rejects if other questions need not be asked. */
function asker(project: Project, isReal: boolean): AskCase {
  let given: Record<string, unknown> = {}
  /** The arguments as the tools get them, by the id of the call. */
  const fitted = new Map<string, unknown>()
  // Inside all others: policy and limits hold as usual.
  project.executor.use(async (call, next) => {
    if (call.id !== undefined) fitted.set(call.id, call.args)
    if (isReal || call.failure) return next()
    const result = Object.hasOwn(given, call.name) ? given[call.name] : 'Done.'
    // What a model reads, as with the tools of MCP servers.
    const text = isRecord(result) && typeof result.text === 'string' ? { text: result.text } : {}
    return { success: true, result, ...text, tool_name: call.name, execution_time_ms: 0 }
  })
  return async (client, one) => {
    const { maxTools, pin } = project.config.models ?? {}
    const calls: MadeCall[] = []
    const startedAt = performance.now()
    given = one.given
    const asked = client.ask(one.ask, {
      ...{ maxTools, pin, bigResults: project.bigResults, signal: stop.signal, origin: 'eval' },
      ask: isReal ? asking() : async () => ({ action: 'accept' }),
      onCall: event => {
        if (event.type !== 'end') return
        const { id = '', name: tool, args } = event.call
        const isReadOnly = project.tools.findTool(tool)?.readOnly === true
        calls.push({ tool, args: fitted.get(id) ?? args, result: event.result, isReadOnly })
      },
    })
    const answer = await asked.catch((thrown: unknown) => {
      if (!(thrown instanceof ModelError) || HOPELESS.test(thrown.code)) throw thrown
      return { text: '', usage: undefined, error: thrown.message }
    })
    const { input = 0, output = 0 } = answer.usage ?? {}
    const seconds = (performance.now() - startedAt) / 1_000
    const error = 'error' in answer ? answer.error : undefined
    return scoreCase(one, { calls, text: answer.text, seconds, tokens: input + output, error })
  }
}

async function reportOn(
  wanted: string | undefined,
  cases: readonly EvalCase[],
  { config, executor, logger }: Project,
  ask: AskCase,
): Promise<ModelReport> {
  const report: ModelReport = { model: wanted ?? 'model', outcomes: [] }
  const progress = process.stderr.isTTY ? progressLine() : undefined
  try {
    const { chooseClient } = await import('../models/index.ts')
    // A model by itself, without the fast path before it.
    const alone = { ...config, fastPath: false }
    const { client, name } = await chooseClient({ model: wanted, config: alone, executor, logger })
    report.model = name
    for (const [at, one] of cases.entries()) {
      progress?.show({ progress: at, total: cases.length, message: name })
      report.outcomes.push(await ask(client, one))
    }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    report.problem = error.message
  } finally {
    progress?.end()
  }
  return report
}

const percent = (share: number) => `${Math.round(100 * share)} %`

/** How a model did in all, and the figures that the table and the page show. */
function totals({ outcomes }: ModelReport) {
  const count = outcomes.length
  const sum = (key: keyof Outcome) => outcomes.reduce((total, outcome) => total + Number(outcome[key]), 0)
  const share = (key: keyof Outcome) => (count === 0 ? '–' : percent(sum(key) / count))
  const passed = sum('passed')
  const figures = {
    ...{ 'Right tool': share('rightTool'), 'Right args': share('rightArguments') },
    ...{ Needless: sum('needless'), Repairs: sum('repairs'), Forbidden: sum('forbidden') },
    ...{ Seconds: (sum('seconds') / (count || 1)).toFixed(2), Tokens: sum('tokens') },
  }
  return { count, passed, score: passed / (count || 1), figures }
}

function printReports(reports: readonly ModelReport[]): void {
  const rowOf = (report: ModelReport) => {
    const { count, score, passed, figures } = totals(report)
    const scored = count === 0 ? '–' : `${score.toFixed(2)} (${passed} of ${count})`
    return { model: report.model, score: scored, ...figures }
  }
  printList(reports, { rowOf })
  for (const { model, outcomes, problem } of reports) {
    for (const { name, why } of outcomes.filter(({ passed }) => !passed))
      print(`✗ ${model}: ${name}\n    ${why.join('\n    ')}`)
    const done = outcomes.length === 0 ? 'was not asked' : `stopped after ${outcomes.length} questions`
    if (problem !== undefined) say(`⚠️ ${model} ${done}: ${problem}`)
  }
}

/** The results as one HTML page that needs nothing else. */
function pageOf(reports: readonly ModelReport[]): string {
  const ranked = [...reports].sort((a, b) => totals(b).score - totals(a).score)
  const cases = new Map(reports.flatMap(({ outcomes }) => outcomes.map(({ name, ask }) => [name, ask])))
  const cardOf = (report: ModelReport) => {
    const { score, figures, ...counts } = totals(report)
    const list = Object.entries(figures).map(([name, value]) => ({ name, value }))
    return { ...report, ...counts, score, percent: percent(score), figures: list, outcomes: [] }
  }
  const cellOf = (runs: readonly Outcome[]) => {
    const [passed, shown] = [runs.filter(run => run.passed), runs.find(run => !run.passed) ?? runs[0]]
    const isMixed = passed.length > 0 && passed.length < runs.length
    const word = !shown ? 'not asked' : isMixed ? 'partly right' : shown.passed ? 'right' : 'wrong'
    const calls = shown?.calls.map(({ error, ...call }) => ({
      text: `${callList([call])}${error && ` → ${error}`}`,
    }))
    const count = runs.length > 1 ? ` ${passed.length} of ${runs.length}` : ''
    const mark = isMixed ? 'mixed' : shown?.passed ? 'good' : 'bad'
    return { mark, word, count, calls, why: shown?.why.map(text => ({ text })), answer: shown?.text }
  }
  const rows = [...cases].map(([name, ask]) => {
    const cells = ranked.map(({ outcomes }) => cellOf(outcomes.filter(outcome => outcome.name === name)))
    return { name, ask: ask === name ? '' : ask, cells }
  })
  const title = `${cases.size} cases, ${reports.length} ${reports.length === 1 ? 'model' : 'models'}`
  const time = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const template = readFileSync(join(packageRoot(), 'data', 'eval-report.html'), 'utf8')
  return filled(template, { title, time, cards: ranked.map(cardOf), rows })
}

/** Fills a template: `{{name}}` is a text, `{{#name}}…{{/name}}` is repeated for every entry of a list. */
function filled(template: string, view: Record<string, unknown>): string {
  const escaped = (text: string) => text.replace(/[&<>"']/g, each => `&#${each.charCodeAt(0)};`)
  return template.replace(/\{\{#(\w+)\}\}(.*?)\{\{\/\1\}\}|\{\{(\w+)\}\}/gs, (_, list, inner, name) => {
    if (list === undefined) return escaped(String(view[name] ?? ''))
    return ((view[list] ?? []) as Record<string, unknown>[]).map(each => filled(inner, each)).join('')
  })
}

const STARTER = {
  ask: 'What is 12 % of 85?',
  expect: [{ tool: 'math_eval' }],
  given: { math_eval: { result: 10.2 } },
}
const HEAD = `# Cases for \`toolpost eval ${NEW_FILE}\`; see docs/testing.md.
# Check what is expected: a case from the history says what was called, not what should have been.
`

/** `toolpost eval init [--from-history]`: writes a file of cases, from past chats if asked. */
function writeCases(project: Project, isFromHistory = false): number {
  if (existsSync(NEW_FILE)) throw new UsageError(`${NEW_FILE} is already there; move it first`)
  const cases = isFromHistory ? pastCases(project) : [STARTER]
  if (cases.length === 0) {
    say('No past chats. `toolpost up` keeps them; ask it something first.')
    return EXIT.failed
  }
  writeFileSync(NEW_FILE, `${HEAD}${stringify({ cases })}`)
  say(`Wrote ${NEW_FILE} with ${cases.length} ${cases.length === 1 ? 'case' : 'cases'}.`)
  return EXIT.ok
}

/** The first question of every chat that led to calls: later ones may refer to what was said before. */
function pastCases(project: Project): object[] {
  const history = historyFile(project)
  const folder = history === undefined ? '' : join(dirname(history), 'conversations')
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
