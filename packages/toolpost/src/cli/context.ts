import { Writable } from 'node:stream'
import { LOG_LEVELS, type LogLevel } from '../logging/logger.ts'
import { stderrLogger } from '../logging/stderr-logger.ts'
import type { ToolpostConfig } from '../project/config.ts'
import { isTraced } from '../project/control.ts'
import type { ConfigInput } from '../project/inputs.ts'
import { type OpenProjectOptions, openProject } from '../project/open-project.ts'
import type { Project } from '../project/project.ts'
import { exportAddress, startExport, type TelemetryExport } from '../telemetry/export.ts'
import { UsageError } from './exit-codes.ts'
import type { Source } from './source.ts'
import type { StopSignals } from './stop-signals.ts'
import { say, type Terminal } from './terminal.ts'
import { askForTrust } from './trust.ts'

export interface GlobalOptions {
  config?: string
  logLevel?: string
  /** Approves the commands of the configuration, and answers the questions of `init`. */
  yes?: boolean
}

/** For commands that need no project, or change a configuration that may be missing or broken. */
export interface BareContext {
  options: GlobalOptions
  terminal: Terminal
  /** Every command ends soon after its signal is aborted, and its project is closed. */
  stop: StopSignals
}

export interface CommandContext extends BareContext {
  project: Project
  /** Exports traces and metrics to a collector, if the environment asks for it. */
  telemetry?: TelemetryExport | undefined
}

export interface SourceContext extends BareContext {
  source: Source
}

export type ProjectWishes = Omit<OpenProjectOptions, 'file' | 'logger' | 'say' | 'askInput'> & {
  /** Whether the command starts no server. */
  startsNothing?: boolean
}

/**
 * Thrown before anything runs: voice and durable calls import `toolpost` as modules, and beside the bundle every class and
 * every known secret would exist twice.
 */
class NeedsModules extends Error {
  override name = 'NeedsModules'
}

const isBundle = import.meta.url.endsWith('/cli.cjs')
/** A short-lived command runs its own durable calls only. */
const OWN_RUNS = { role: 'worker', concurrency: 0 } as const

/** Everything a command needs. Throws, before anything runs, if the configuration is wrong. */
export async function openContext(
  bare: BareContext,
  { startsNothing, ...wishes }: ProjectWishes = {},
): Promise<CommandContext> {
  const { options, terminal, stop } = bare
  const project = await openProject({
    durable: OWN_RUNS,
    ...wishes,
    file: options.config,
    logger: config => stderrLogger(levelFrom(options, config)),
    say: text => say(terminal, text),
    askInput: input => askInput(input, terminal, stop.signal),
  })
  if (isBundle && (wishes.voice || project.config.durable)) {
    await project.close()
    throw new NeedsModules()
  }
  if (!startsNothing) await askForTrust(project, bare)
  const isExported = isTraced(project.config) && exportAddress(process.env) !== undefined
  const telemetry = isExported ? await startExport(process.env, project.logger) : undefined
  if (telemetry?.problem) say(terminal, `Traces are not exported: ${telemetry.problem}`)
  return { ...bare, project, telemetry }
}

function levelFrom({ logLevel }: GlobalOptions, config: ToolpostConfig): LogLevel | 'silent' {
  const level = logLevel ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  if (level === 'silent' || LOG_LEVELS.includes(level as LogLevel)) return level as LogLevel | 'silent'
  throw new UsageError(`invalid log level '${level}'; expected one of ${LOG_LEVELS.join(', ')}, silent`)
}

/** Asks for an input of the configuration at the terminal. `undefined` without a terminal or an answer. */
async function askInput(
  asked: ConfigInput,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!process.stdin.isTTY || !terminal.err.isTTY) return undefined
  const { description, options: choices, suggestion, isSecret } = asked
  for (const [index, choice] of choices.entries()) say(terminal, `  ${index + 1}  ${choice}`)
  const hint = suggestion === undefined || isSecret ? '' : ` [${suggestion}]`
  const typed = await typedLine(`${description}${hint}: `, { terminal, signal, isSecret })
  const answer = typed?.trim() || suggestion
  if (answer === undefined || choices.length === 0) return answer
  return choices.includes(answer) ? answer : choices[Number(answer) - 1]
}

/** `undefined` if the terminal is closed or Toolpost is stopped. */
export async function typedLine(
  question: string,
  { terminal, signal, isSecret = false }: { terminal: Terminal; signal: AbortSignal; isSecret?: boolean },
): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises')
  // The line reader echoes what is typed, so for a secret its output is discarded.
  const output = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : terminal.err
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  if (isSecret) terminal.err.write(question)
  const closed = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)))
  const answer = lines.question(isSecret ? '' : question, { signal }).catch(() => undefined)
  const typed = await Promise.race([answer, closed])
  lines.close()
  if (isSecret || typed === undefined) terminal.err.write('\n')
  return typed
}
