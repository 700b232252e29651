import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import type { Interceptor } from '../executor/chain.ts'
import type { ChatTurn } from '../gateway/api-types.ts'
import type { AiClient } from '../models/ai-client.ts'
import { ModelError } from '../models/model-error.ts'
import type { Project } from '../project/project.ts'
import { historyFile } from '../project/project-history.ts'
import { isRecord } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import type { CommandContext } from './context.ts'
import { type EvalCase, readCases } from './eval-cases.ts'
import { reportPage } from './eval-report.ts'
import { type MadeCall, type ModelReport, scoreCase, totals } from './eval-score.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { unlessStopped } from './stop-signals.ts'
import { askingAt, printJson, printResult, printTable, progressLine, say, styled } from './terminal.ts'

export interface EvalFlags {
  model?: string[]
  repeat?: string
  html?: string
  min?: string
  run?: boolean
  json?: boolean
  fromHistory?: boolean
}

const MAX_REPEAT = 100
const NEW_FILE = 'cases.yaml'
/** Failures that every other question would meet too. */
const HOPELESS = [
  'unknown_provider',
  'missing_key',
  'missing_package',
  'unreachable',
  'model_not_found',
  'no_tools',
  'unauthorized',
]
const COLUMNS = ['MODEL', 'SCORE', 'RIGHT TOOL', 'RIGHT ARGS', 'NEEDLESS', 'REPAIRS', 'FORBIDDEN', 'SECONDS']

/** `toolpost eval [cases]`: asks every model every question, and scores the calls it makes. */
export async function runEval(
  context: CommandContext,
  file: string | undefined,
  flags: EvalFlags,
): Promise<number> {
  const { project, terminal } = context
  if (file === 'init') return writeCases(context, flags)
  const repeat = numberOf('--repeat', flags.repeat ?? '1', value => value >= 1 && value <= MAX_REPEAT)
  const min = numberOf('--min', flags.min ?? '0', value => value >= 0 && value <= 1)
  if (file === undefined && project.file !== undefined)
    throw new UsageError('Which cases? toolpost eval FILE; `toolpost eval init` writes a file to begin with')
  await unlessStopped(project.ready(), context.stop.signal)
  const names = project.tools.getTools().map(tool => tool.name)
  const cases = readCases(file ?? join(packageRoot(), 'example', 'cases.yaml'), names)
  const asker = new Asker(context, flags.run ?? false)
  const reports: ModelReport[] = []
  for (const model of flags.model ?? [undefined]) reports.push(await asker.report(model, { cases, repeat }))
  if (flags.html !== undefined) writePage(flags.html, reports)
  if (flags.json) printJson(terminal, reports)
  else printReports(context, reports)
  const isFine = reports.every(report => report.problem === undefined && totals(report).score >= min)
  return isFine ? EXIT.ok : EXIT.failed
}

/** Asks models in a project whose tools are mocked, unless they are to run. */
class Asker {
  readonly #context: CommandContext
  readonly #isReal: boolean
  #given: Record<string, unknown> = {}
  /** The arguments as the tools get them, by the id of the call. */
  readonly #fitted = new Map<string, unknown>()

  constructor(context: CommandContext, isReal: boolean) {
    this.#context = context
    this.#isReal = isReal
    // Inside all others: policy and limits hold as usual.
    context.project.executor.use(this.#mock)
  }

  readonly #mock: Interceptor = async (call, next) => {
    if (call.id !== undefined) this.#fitted.set(call.id, call.args)
    if (this.#isReal || call.failure) return next()
    const result = Object.hasOwn(this.#given, call.name) ? this.#given[call.name] : 'Done.'
    // What a model reads, as with the tools of MCP servers.
    const text = isRecord(result) && typeof result.text === 'string' ? { text: result.text } : {}
    return { success: true, result, ...text, tool_name: call.name, execution_time_ms: 0 }
  }

  async report(
    wanted: string | undefined,
    { cases, repeat }: { cases: readonly EvalCase[]; repeat: number },
  ): Promise<ModelReport> {
    const { project, terminal } = this.#context
    const report: ModelReport = { model: wanted ?? 'model', outcomes: [] }
    const progress = terminal.err.isTTY ? progressLine(terminal) : undefined
    try {
      const { client, name } = await chosen(project, wanted)
      report.model = name
      for (const one of Array.from({ length: repeat }, () => cases).flat()) {
        progress?.show({ progress: report.outcomes.length, total: cases.length * repeat, message: name })
        report.outcomes.push(await this.#run(client, one))
      }
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      report.problem = error.message
    } finally {
      progress?.end()
    }
    return report
  }

  /** Rejects with a ModelError if the other questions need not be asked. */
  async #run(client: AiClient, one: EvalCase) {
    const { project, stop, terminal } = this.#context
    const { maxTools, pin } = project.config.models ?? {}
    const calls: MadeCall[] = []
    const startedAt = performance.now()
    this.#given = one.given
    this.#fitted.clear()
    const asking = client.ask(one.ask, {
      ...{ maxTools, pin, bigResults: project.bigResults, signal: stop.signal, origin: 'eval' },
      ask: this.#isReal ? askingAt(terminal) : async () => ({ action: 'accept' }),
      onCall: event => {
        if (event.type !== 'end') return
        const { id = '', name: tool, args } = event.call
        const isReadOnly = project.tools.findTool(tool)?.readOnly === true
        calls.push({ tool, args: this.#fitted.get(id) ?? args, result: event.result, isReadOnly })
      },
    })
    const answer = await unlessStopped(asking, stop.signal).catch(error => {
      if (!(error instanceof ModelError) || HOPELESS.includes(error.code)) throw error
      return { text: '', usage: undefined, error: error.message }
    })
    const { input = 0, output = 0 } = answer.usage ?? {}
    const seconds = (performance.now() - startedAt) / 1_000
    const error = 'error' in answer ? answer.error : undefined
    return scoreCase(one, { calls, text: answer.text, seconds, tokens: input + output, error })
  }
}

/** A model by itself, without the fast path before it. */
async function chosen(project: Project, model: string | undefined) {
  const { chooseClient } = await import('../models/index.ts')
  const { executor, logger, config } = project
  return chooseClient({ model, config: { ...config, fastPath: false }, executor, logger })
}

function printReports({ terminal }: CommandContext, reports: readonly ModelReport[]): void {
  const percent = (share: number) => `${Math.round(100 * share)} %`
  const rows = reports.map(report => {
    const all = totals(report)
    const score = all.count === 0 ? '–' : `${all.score.toFixed(2)} (${all.passed} of ${all.count})`
    const shares = all.count === 0 ? ['–', '–'] : [percent(all.rightTool), percent(all.rightArguments)]
    const figures = [all.needless, all.repairs, all.forbidden, all.seconds.toFixed(2), all.tokens]
    return [report.model, score, ...shares, ...figures.map(String)]
  })
  printTable([...COLUMNS, 'TOKENS'], rows, terminal)
  for (const { model, outcomes, problem } of reports) {
    for (const { name, passed, why } of outcomes)
      if (!passed)
        printResult(
          terminal,
          `${styled(terminal.out, 'red', '✗')} ${model}: ${name}\n    ${why.join('\n    ')}`,
        )
    if (problem === undefined) continue
    const done = outcomes.length === 0 ? 'was not asked' : `stopped after ${outcomes.length} questions`
    say(terminal, `⚠️ ${model} ${done}: ${problem}`)
  }
}

function writePage(file: string, reports: readonly ModelReport[]): void {
  try {
    writeFileSync(file, reportPage(reports, new Date()))
  } catch (error) {
    throw new UsageError(`Cannot write the report: ${(error as Error).message}`, { cause: error })
  }
}

function numberOf(option: string, text: string, isValid: (value: number) => boolean): number {
  const value = Number(text)
  const isRight = isValid(value) && (option !== '--repeat' || Number.isInteger(value))
  if (isRight) return value
  const expected = option === '--repeat' ? `a whole number from 1 to ${MAX_REPEAT}` : 'a number from 0 to 1'
  throw new UsageError(`${option} expects ${expected}, got '${text}'`)
}

const STARTER: WrittenCase[] = [
  { ask: 'What is 12 % of 85?', expect: [{ tool: 'math_eval' }], given: { math_eval: { result: 10.2 } } },
]
const HEAD = `# Cases for \`toolpost eval ${NEW_FILE}\`; see docs/testing.md.
# Check what is expected: a case from the history says what was called, not what should have been.
`

interface WrittenCase {
  ask: string
  expect: { tool: string; args?: unknown }[]
  given: Record<string, unknown>
}

/** `toolpost eval init [--from-history]`: writes a file of cases, from past chats if asked. */
function writeCases({ project, terminal }: CommandContext, { fromHistory = false }: EvalFlags): number {
  if (existsSync(NEW_FILE)) throw new UsageError(`${NEW_FILE} is already there; move it first`)
  const cases = fromHistory ? pastCases(project) : STARTER
  if (cases.length === 0) {
    say(terminal, 'No past chats. `toolpost up` keeps them; ask it something first.')
    return EXIT.failed
  }
  writeFileSync(NEW_FILE, `${HEAD}${stringify({ cases })}`)
  say(terminal, `Wrote ${NEW_FILE} with ${cases.length} ${cases.length === 1 ? 'case' : 'cases'}.`)
  return EXIT.ok
}

/** The first question of every chat that led to calls: later ones may refer to what was said before. */
function pastCases(project: Project): WrittenCase[] {
  const history = historyFile(project)
  const folder = history === undefined ? '' : join(dirname(history), 'conversations')
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter(name => name.endsWith('.json'))
  const turns = files.flatMap(name => firstTurn(join(folder, name)))
  const cases = turns.map(({ question, parts }) => {
    const calls = parts.flatMap(part => (part.kind === 'call' && part.call.result ? [part.call] : []))
    const given = calls.flatMap(({ name, result }) => (result?.success ? [[name, result.result]] : []))
    const expect = calls.map(({ name, args }) => ({ tool: name, args }))
    return { ask: question, expect, given: Object.fromEntries(given) }
  })
  const isFirst = ({ ask }: WrittenCase, at: number) => cases.findIndex(each => each.ask === ask) === at
  return cases.filter(one => one.expect.length > 0).filter(isFirst)
}

/** Nothing if the file cannot be read. */
function firstTurn(file: string): ChatTurn[] {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { turns: ChatTurn[] }).turns.slice(0, 1)
  } catch {
    return []
  }
}
