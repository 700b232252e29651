import { LOG_LEVELS, type LogLevel } from '../logging/logger.ts'
import { stderrLogger } from '../logging/stderr-logger.ts'
import type { ToolpostConfig } from '../project/config.ts'
import { isTraced } from '../project/control.ts'
import { type OpenProjectOptions, openProject } from '../project/open-project.ts'
import type { Project } from '../project/project.ts'
import { commandsOf, trust, untrusted } from '../project/trust.ts'
import { exportAddress, startExport, type TelemetryExport } from '../telemetry/export.ts'
import { type StopSignals, UsageError } from './exit.ts'
import type { Source } from './source.ts'
import { isInteractive, isYes, say, type Terminal, typedLine } from './terminal.ts'

type Options<Name extends string, Type> = { [Key in Name]?: Type }

/** The options of all commands, as far as they are texts or switches. */
export type Flags = Options<'json' | 'run' | 'failed' | 'cassette' | 'cancel' | 'voice' | 'worker', boolean> &
  Options<'stdio' | 'fromHistory' | 'new' | 'logout' | 'browser' | 'check' | 'force' | 'trust', boolean> &
  Options<'timeout' | 'key' | 'search' | 'out' | 'host' | 'port' | 'token' | 'url', string> &
  Options<
    'record' | 'replay' | 'pool' | 'outcome' | 'limit' | 'state' | 'tool' | 'remember' | 'scope',
    string
  > &
  Options<'repeat' | 'min' | 'html', string> &
  Options<'allowHost' | 'env' | 'header', string[]> &
  /** A list for `eval`. */
  Options<'model', string | string[]>

/** For commands that need no project, or change a configuration that may be missing or broken. */
export interface BareContext<Words = unknown> {
  /** The arguments of the command, and its options. */
  words: Words
  flags: Flags
  /** `--yes` approves the commands of the configuration, and answers the questions of `init`. */
  options: { config?: string; logLevel?: string; yes?: boolean }
  terminal: Terminal
  /** Every command ends soon after its signal is aborted, and its project is closed. */
  stop: StopSignals
}

export interface CommandContext<Words = unknown> extends BareContext<Words> {
  project: Project
  telemetry?: TelemetryExport | undefined
}

export type SourceContext<Words = unknown> = BareContext<Words> & { source: Source }

export type ProjectWishes = Omit<OpenProjectOptions, 'file' | 'logger' | 'say'> & {
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

/** Everything a command needs. Throws, before anything runs, if the configuration is wrong. */
export async function openContext<Words>(
  bare: BareContext<Words>,
  { startsNothing, ...wishes }: ProjectWishes = {},
): Promise<CommandContext<Words>> {
  const { options, terminal } = bare
  const project = await openProject({
    // A short-lived command runs its own durable calls only.
    durable: { role: 'worker', concurrency: 0 },
    ...wishes,
    file: options.config,
    logger: config => stderrLogger(levelFrom(options.logLevel, config)),
    say: text => say(terminal, text),
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

function levelFrom(given: string | undefined, config: ToolpostConfig): LogLevel | 'silent' {
  const level = given ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  if (level === 'silent' || LOG_LEVELS.includes(level as LogLevel)) return level as LogLevel | 'silent'
  throw new UsageError(`invalid log level '${level}'; expected one of ${LOG_LEVELS.join(', ')}, silent`)
}

/** Asks once, at a terminal, whether the commands of a configuration may run on this machine. Throws if not. */
async function askForTrust({ file, config, logger }: Project, bare: BareContext): Promise<void> {
  const { options, terminal, stop } = bare
  const unknown = file === undefined ? [] : untrusted(file, config)
  if (file === undefined || unknown.length === 0) return
  if (!options.yes && !isInteractive(terminal))
    return logger.warn({ file }, 'The commands of this configuration were never approved here')
  if (!options.yes) {
    say(terminal, `${file} starts these programs, which were never approved on this machine:`)
    for (const { text } of unknown) say(terminal, `  ${text}`)
    const isAgreed = isYes(await typedLine('Run them? [y/N] ', terminal, stop))
    const other = '`toolpost trust` approves these commands, `--yes` does so for any command'
    if (!isAgreed) throw new UsageError(`Nothing was started. ${other}`)
  }
  approve(file, config, terminal)
}

/** Approves the commands of a configuration on this machine. */
export function approve(file: string, { mcpServers }: ToolpostConfig, terminal: Terminal): void {
  try {
    trust(file, commandsOf(mcpServers))
  } catch (error) {
    say(terminal, `The approval could not be saved: ${(error as Error).message}`)
  }
}
