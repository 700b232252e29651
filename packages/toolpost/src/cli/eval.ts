import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import type { ChatTurn } from '../gateway/api-types.ts'
import { ModelError } from '../models/model-error.ts'
import { readJson } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import { historyFile } from '../project/project-history.ts'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import type { Context } from './context.ts'
import { callList, type EvalCase, type MadeCall, type Outcome, readCases, scoreCase } from './eval-cases.ts'
import {
  asking,
  counted,
  EXIT,
  numberOf,
  print,
  printJson,
  printList,
  say,
  stop,
  UsageError,
} from './terminal.ts'

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
  if (flags.html !== undefined) writeFileSync(flags.html, pageOf(reports))
  if (flags.json) printJson(reports)
  else printReports(reports)
  const isFine = reports.every(report => report.problem === undefined && totals(report).score >= min)
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
    const { client, name } = await chooseClient({
      model,
      config: { ...config, fastPath: false },
      executor,
      logger,
    })
    report.model = name
    if (process.stderr.isTTY) say(`Asking ${name} ${counted(cases.length, 'question')} …`)
    const ask = isReal ? asking() : async () => ({ action: 'accept' as const })
    for (const one of cases) {
      const calls: MadeCall[] = []
      const startedAt = performance.now()
      given = one.given
      const answer = await client
        .ask(one.ask, {
          ...{ ...config.models, bigResults, signal: stop.signal, origin: 'eval', ask },
          onCall: event => {
            if (event.type !== 'end') return
            const { call, result } = event
            const isReadOnly = project.tools.findTool(call.name)?.readOnly === true
            calls.push({ tool: call.name, args: fitted.get(call.id) ?? call.args, result, isReadOnly })
          },
        })
        .catch((error: unknown) => {
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

const percent = (share: number) => `${Math.round(100 * share)} %`

/** How a model did in all, and the figures that the table and the page show. */
function totals({ outcomes }: ModelReport) {
  const count = outcomes.length
  const sum = (key: keyof Outcome) => outcomes.reduce((total, outcome) => total + Number(outcome[key]), 0)
  const share = (key: keyof Outcome) => (count === 0 ? '–' : percent(sum(key) / count))
  const figures = {
    ...{ 'Right tool': share('rightTool'), 'Right args': share('rightArguments') },
    ...{ Needless: sum('needless'), Repairs: sum('repairs'), Forbidden: sum('forbidden') },
    ...{ Seconds: (sum('seconds') / (count || 1)).toFixed(2), Tokens: sum('tokens') },
  }
  return { count, passed: sum('passed'), score: sum('passed') / (count || 1), figures }
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
  const cards = ranked.map(({ outcomes, ...report }) => {
    const { figures, ...all } = totals({ outcomes, ...report })
    const list = Object.entries(figures).map(([name, value]) => ({ name, value }))
    return { ...report, ...all, percent: percent(all.score), figures: list }
  })
  const cellOf = (runs: readonly Outcome[]) => {
    const passed = runs.filter(run => run.passed).length
    const shown = runs.find(run => !run.passed) ?? runs[0]
    const [mark, word] = shown?.passed ? ['good', 'right'] : passed ? ['mixed', 'partly'] : ['bad', 'wrong']
    const lines = shown?.calls.map(call => ({ text: callList([call]) + (call.error && ` → ${call.error}`) }))
    const count = runs.length > 1 ? ` ${passed} of ${runs.length}` : ''
    const details = { calls: lines, why: shown?.why.map(text => ({ text })), answer: shown?.text }
    return { mark, word: shown ? word : 'not asked', count, ...details }
  }
  const rows = [...cases].map(([name, ask]) => {
    const cells = ranked.map(({ outcomes }) => cellOf(outcomes.filter(outcome => outcome.name === name)))
    return { name, ask: ask === name ? '' : ask, cells }
  })
  const title = `${counted(cases.size, 'case')}, ${counted(reports.length, 'model')}`
  const time = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const template = readFileSync(join(packageRoot(), 'data', 'eval-report.html'), 'utf8')
  return filled(template, { title, time, cards, rows })
}

/** Fills a template: `{{name}}` is a text, `{{#name}}…{{/name}}` is repeated for every entry of a list. */
function filled(template: string, view: Record<string, unknown>): string {
  const escaped = (text: string) => text.replace(/[&<>"']/g, each => `&#${each.charCodeAt(0)};`)
  return template.replace(/\{\{#(\w+)\}\}(.*?)\{\{\/\1\}\}|\{\{(\w+)\}\}/gs, (_, list, inner, name) => {
    if (list === undefined) return escaped(String(view[name] ?? ''))
    return ((view[list] ?? []) as Record<string, unknown>[]).map(each => filled(inner, each)).join('')
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
