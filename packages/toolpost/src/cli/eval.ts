import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import type { ChatTurn } from '../gateway/api-types.ts'
import type { AiClient } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import type { Project } from '../project/project.ts'
import { historyFile } from '../project/project-history.ts'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import type { CommandContext } from './context.ts'
import { type EvalCase, readCases } from './eval-cases.ts'
import { figuresOf, reportPage } from './eval-report.ts'
import { type MadeCall, type ModelReport, type Outcome, scoreCase, totals } from './eval-score.ts'
import { EXIT, UsageError, unlessStopped } from './exit.ts'
import { askingAt, printJson, printResult, printTable, progressLine, say } from './terminal.ts'

const NEW_FILE = 'cases.yaml'
/** Failures that every other question would meet too. */
const HOPELESS =
  /^(unknown_provider|missing_key|missing_package|unreachable|model_not_found|no_tools|unauthorized)$/

/** `toolpost eval [cases]`: asks every model every question, and scores the calls it makes. */
export async function runEval(context: CommandContext<[string?]>): Promise<number> {
  const { project, terminal, flags } = context
  const [file] = context.words
  if (file === 'init') return writeCases(context)
  const [repeat, min] = [Number(flags.repeat ?? 1), Number(flags.min ?? 0)]
  if (!(Number.isInteger(repeat) && repeat >= 1 && repeat <= 100))
    throw new UsageError(`--repeat expects a whole number from 1 to 100, got '${flags.repeat}'`)
  if (!(min >= 0 && min <= 1)) throw new UsageError(`--min expects a number from 0 to 1, got '${flags.min}'`)
  if (file === undefined && project.file !== undefined)
    throw new UsageError('Which cases? toolpost eval FILE; `toolpost eval init` writes a file to begin with')
  await unlessStopped(project.ready(), context.stop)
  const names = project.tools.getTools().map(tool => tool.name)
  const cases = readCases(file ?? join(packageRoot(), 'example', 'cases.yaml'), names)
  const ask = asking(context, flags.run ?? false)
  const reports: ModelReport[] = []
  for (const model of (flags.model as string[] | undefined) ?? [undefined])
    reports.push(
      await reportOn(model, Array.from({ length: repeat }, () => cases).flat(), { ...context, ask }),
    )
  if (flags.html !== undefined) writePage(flags.html, reports)
  if (flags.json) printJson(terminal, reports)
  else printReports(context, reports)
  const isFine = reports.every(report => report.problem === undefined && totals(report).score >= min)
  return isFine ? EXIT.ok : EXIT.failed
}

type AskCase = (client: AiClient, one: EvalCase) => Promise<Outcome>

/** Asks in the project, whose tools are mocked unless they are to run. Rejects if other questions need not be asked. */
function asking({ project, stop, terminal }: CommandContext, isReal: boolean): AskCase {
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
    fitted.clear()
    const asked = client.ask(one.ask, {
      ...{ maxTools, pin, bigResults: project.bigResults, signal: stop.signal, origin: 'eval' },
      ask: isReal ? askingAt(terminal) : async () => ({ action: 'accept' }),
      onCall: event => {
        if (event.type !== 'end') return
        const { id = '', name: tool, args } = event.call
        const isReadOnly = project.tools.findTool(tool)?.readOnly === true
        calls.push({ tool, args: fitted.get(id) ?? args, result: event.result, isReadOnly })
      },
    })
    const answer = await unlessStopped(asked, stop).catch(error => {
      if (!(error instanceof ModelError) || HOPELESS.test(error.code)) throw error
      return { text: '', usage: undefined, error: error.message }
    })
    const { text, usage: { input = 0, output = 0 } = {} } = answer
    const seconds = (performance.now() - startedAt) / 1_000
    const error = 'error' in answer ? answer.error : undefined
    return scoreCase(one, { calls, text, seconds, tokens: input + output, error })
  }
}

async function reportOn(
  wanted: string | undefined,
  cases: readonly EvalCase[],
  { project, terminal, ask }: CommandContext & { ask: AskCase },
): Promise<ModelReport> {
  const report: ModelReport = { model: wanted ?? 'model', outcomes: [] }
  const progress = terminal.err.isTTY ? progressLine(terminal) : undefined
  try {
    const { chooseClient } = await import('../models/index.ts')
    const { executor, logger } = project
    // A model by itself, without the fast path before it.
    const config = { ...project.config, fastPath: false }
    const { client, name } = await chooseClient({ model: wanted, config, executor, logger })
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

function printReports({ terminal }: CommandContext, reports: readonly ModelReport[]): void {
  const rows = reports.map(report => {
    const { count, score, passed } = totals(report)
    const scored = count === 0 ? '–' : `${score.toFixed(2)} (${passed} of ${count})`
    return [report.model, scored, ...figuresOf(report).map(([, value]) => value)]
  })
  const columns = reports
    .slice(0, 1)
    .flatMap(figuresOf)
    .map(([name]) => name.toUpperCase())
  printTable(['MODEL', 'SCORE', ...columns], rows, terminal)
  for (const { model, outcomes, problem } of reports) {
    for (const { name, why } of outcomes.filter(({ passed }) => !passed))
      printResult(terminal, `✗ ${model}: ${name}\n    ${why.join('\n    ')}`)
    const done = outcomes.length === 0 ? 'was not asked' : `stopped after ${outcomes.length} questions`
    if (problem !== undefined) say(terminal, `⚠️ ${model} ${done}: ${problem}`)
  }
}

function writePage(file: string, reports: readonly ModelReport[]): void {
  try {
    writeFileSync(file, reportPage(reports, new Date()))
  } catch (error) {
    throw new UsageError(`Cannot write the report: ${(error as Error).message}`, { cause: error })
  }
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
function writeCases({ project, terminal, flags }: CommandContext): number {
  if (existsSync(NEW_FILE)) throw new UsageError(`${NEW_FILE} is already there; move it first`)
  const cases = flags.fromHistory ? pastCases(project) : [STARTER]
  if (cases.length === 0) {
    say(terminal, 'No past chats. `toolpost up` keeps them; ask it something first.')
    return EXIT.failed
  }
  writeFileSync(NEW_FILE, `${HEAD}${stringify({ cases })}`)
  say(terminal, `Wrote ${NEW_FILE} with ${cases.length} ${cases.length === 1 ? 'case' : 'cases'}.`)
  return EXIT.ok
}

/** The first question of every chat that led to calls: later ones may refer to what was said before. */
function pastCases(project: Project): object[] {
  const history = historyFile(project)
  const folder = history === undefined ? '' : join(dirname(history), 'conversations')
  const files = existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.json')) : []
  const cases = new Map<string, object>()
  for (const { question: ask, parts } of files.flatMap(name => firstTurn(join(folder, name)))) {
    const calls = parts.flatMap(part => (part.kind === 'call' && part.call.result ? [part.call] : []))
    const given = calls.flatMap(({ name, result }) => (result?.success ? [[name, result.result]] : []))
    const expect = calls.map(({ name, args }) => ({ tool: name, args }))
    if (expect.length > 0) cases.set(ask, { ask, expect, given: Object.fromEntries(given) })
  }
  return [...cases.values()]
}

/** Nothing if the file cannot be read. */
function firstTurn(file: string): ChatTurn[] {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { turns: ChatTurn[] }).turns.slice(0, 1)
  } catch {
    return []
  }
}
