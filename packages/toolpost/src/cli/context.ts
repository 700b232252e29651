import type { ToolpostConfig } from '../project/config.ts'
import { LOG_LEVELS, type LogLevel } from '../logging/logger.ts'
import { stderrLogger } from '../logging/stderr-logger.ts'
import { isTraced } from '../project/control.ts'
import { type OpenProjectOptions, openProject } from '../project/open-project.ts'
import type { Project } from '../project/project.ts'
import { exportAddress, startExport, type TelemetryExport } from '../telemetry/export.ts'
import { askInput } from './ask-input.ts'
import { UsageError } from './exit-codes.ts'
import type { StopSignals } from './stop-signals.ts'
import { say, type Terminal } from './terminal.ts'

export interface GlobalOptions {
  config?: string
  logLevel?: string
}

export interface CommandContext {
  project: Project
  terminal: Terminal
  /** Every command ends soon after its signal is aborted, and its project is closed. */
  stop: StopSignals
  /** Exports traces and metrics to a collector, if the environment asks for it. */
  telemetry?: TelemetryExport | undefined
}

export type ProjectWishes = Pick<
  OpenProjectOptions,
  'model' | 'voice' | 'durable' | 'looksForItself' | 'triesOnce'
>

/** Opens the project for one command, sets the exit code, and leaves no process behind, even when stopped. */
export type Within = (
  command: (context: CommandContext) => number | Promise<number>,
  wishes?: ProjectWishes,
) => Promise<void>

/** A short-lived command runs its own durable calls only. */
const OWN_RUNS = { role: 'worker', concurrency: 0 } as const

/**
 * Thrown before anything runs: voice and durable calls import `toolpost` as modules, and beside the bundle every class and
 * every known secret would exist twice.
 */
export class NeedsModules extends Error {
  override name = 'NeedsModules'
}

const isBundle = import.meta.url.endsWith('/cli.cjs')

/** Everything a command needs. Throws, before anything runs, if the configuration is wrong. */
export async function openContext(
  options: GlobalOptions,
  { terminal, stop }: Pick<CommandContext, 'terminal' | 'stop'>,
  wishes: ProjectWishes = {},
): Promise<CommandContext> {
  const project = await openProject({
    durable: OWN_RUNS,
    ...wishes,
    file: options.config,
    logger: config => stderrLogger(levelFrom(options, config)),
    say: text => say(terminal, text),
    askInput: input => askInput(input, { terminal, signal: stop.signal }),
  })
  if (isBundle && (wishes.voice || project.config.durable)) {
    await project.close()
    throw new NeedsModules()
  }
  const telemetry = await exportOf(project)
  if (telemetry?.problem) say(terminal, `Traces are not exported: ${telemetry.problem}`)
  return { project, terminal, stop, telemetry }
}

async function exportOf({ config, logger }: Project): Promise<TelemetryExport | undefined> {
  if (!isTraced(config) || exportAddress(process.env) === undefined) return undefined
  return startExport(process.env, logger)
}

function levelFrom({ logLevel }: GlobalOptions, config: ToolpostConfig): LogLevel | 'silent' {
  const level = logLevel ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  if (level === 'silent' || LOG_LEVELS.includes(level as LogLevel)) return level as LogLevel | 'silent'
  throw new UsageError(`invalid log level '${level}'; expected one of ${LOG_LEVELS.join(', ')}, silent`)
}
