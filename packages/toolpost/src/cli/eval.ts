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
import type { CommandContext } from './context.ts'
import { callList, type EvalCase, type MadeCall, type Outcome, readCases, scoreCase } from './eval-cases.ts'
import { EXIT, stop, UsageError } from './exit.ts'
import { asking, print, printJson, printTable, progressLine, say } from './terminal.ts'

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
export async function runEval({ project, words: [file], flags }: CommandContext<[string?]>): Promise<number> {
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
  if (flags.html !== undefined) writePage(flags.html, reports)
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
    const { text, usage, error } = await asked.then(
      answer => ({ ...answer, error: undefined }),
      thrown => {
        if (!(thrown instanceof ModelError) || HOPELESS.test(thrown.code)) throw thrown
        return { text: '', usage: undefined, error: thrown.message }
      },
    )
    const seconds = (performance.now() - startedAt) / 1_000
    const tokens = (usage?.input ?? 0) + (usage?.output ?? 0)
    return scoreCase(one, { calls, text, seconds, tokens, error })
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
    'Right tool': share('rightTool'),
    'Right args': share('rightArguments'),
    Needless: sum('needless'),
    Repairs: sum('repairs'),
    Forbidden: sum('forbidden'),
    Seconds: (sum('seconds') / (count || 1)).toFixed(2),
    Tokens: sum('tokens'),
  }
  return { count, passed, score: passed / (count || 1), figures: Object.entries(figures) }
}

function printReports(reports: readonly ModelReport[]): void {
  const columns = reports.slice(0, 1).flatMap(report => totals(report).figures.map(([name]) => name))
  const rows = reports.map(report => {
    const { count, score, passed, figures } = totals(report)
    const scored = count === 0 ? '–' : `${score.toFixed(2)} (${passed} of ${count})`
    return [report.model, scored, ...figures.map(([, value]) => String(value))]
  })
  printTable(['MODEL', 'SCORE', ...columns.map(name => name.toUpperCase())], rows)
  for (const { model, outcomes, problem } of reports) {
    for (const { name, why } of outcomes.filter(({ passed }) => !passed))
      print(`✗ ${model}: ${name}\n    ${why.join('\n    ')}`)
    const done = outcomes.length === 0 ? 'was not asked' : `stopped after ${outcomes.length} questions`
    if (problem !== undefined) say(`⚠️ ${model} ${done}: ${problem}`)
  }
}

/** Writes the results as one HTML page that needs nothing else. */
function writePage(file: string, reports: readonly ModelReport[]): void {
  const ranked = [...reports].sort((a, b) => totals(b).score - totals(a).score)
  const asked = ranked.filter(({ outcomes }) => outcomes.length > 0)
  const cases = new Map(reports.flatMap(({ outcomes }) => outcomes.map(({ name, ask }) => [name, ask])))
  const rows = [...cases].map(([name, ask]) => {
    const cells = asked.map(({ outcomes }) => cell(outcomes.filter(outcome => outcome.name === name)))
    const asks = ask === name ? '' : `<span class="muted">${escaped(ask)}</span>`
    return `<tr><th>${escaped(name)}${asks}</th>${cells.join('')}</tr>`
  })
  const parts = new Map<string, string>([
    ['title', `${cases.size} cases, ${reports.length} ${reports.length === 1 ? 'model' : 'models'}`],
    ['time', new Date().toISOString().slice(0, 16).replace('T', ' ')],
    ['cards', ranked.map(card).join('')],
    ['heads', asked.map(({ model }) => `<th>${escaped(model)}</th>`).join('')],
    ['rows', rows.join('\n')],
  ])
  const template = readFileSync(join(packageRoot(), 'data', 'eval-report.html'), 'utf8')
  try {
    writeFileSync(
      file,
      template.replace(/\{\{(\w+)\}\}/g, (_, name) => parts.get(name) ?? ''),
    )
  } catch (error) {
    throw new UsageError(`Cannot write the report: ${(error as Error).message}`, { cause: error })
  }
}

function card(report: ModelReport): string {
  const { count, score, passed, figures } = totals(report)
  const list = figures.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`)
  const problem = report.problem === undefined ? '' : `<p class="bad">${escaped(report.problem)}</p>`
  const scored = `<b>${percent(score)}</b> <span class="muted">${passed} of ${count} right</span>
<meter value="${score}"></meter>${problem}<dl>${list.join('')}</dl>`
  return `<article><h3>${escaped(report.model)}</h3>${count === 0 ? problem : scored}</article>`
}

function cell(runs: readonly Outcome[]): string {
  const [first] = runs
  if (!first) return '<td class="muted">not asked</td>'
  const passed = runs.filter(run => run.passed).length
  const [mark, word] =
    passed === runs.length ? ['good', 'right'] : passed === 0 ? ['bad', 'wrong'] : ['mixed', 'partly']
  const { why, calls, text } = runs.find(run => !run.passed) ?? first
  const details = [
    ...why.map(reason => `<p class="bad">${escaped(reason)}</p>`),
    ...calls.map(
      call => `<code>${escaped(`${callList([call])}${call.error ? ` → ${call.error}` : ''}`)}</code>`,
    ),
    text === '' ? '' : `<p class="muted">“${escaped(text)}”</p>`,
  ]
  const count = runs.length === 1 ? '' : ` ${passed} of ${runs.length}`
  const summary = `<summary class="${mark}">● ${word}${count}</summary>`
  return `<td><details${mark === 'good' ? '' : ' open'}>${summary}${details.join('')}</details></td>`
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

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
