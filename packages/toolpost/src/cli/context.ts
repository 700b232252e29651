import { LOG_LEVELS, type LogLevel } from '../logging/logger.ts'
import { stderrLogger } from '../logging/stderr-logger.ts'
import type { ToolpostConfig } from '../project/config.ts'
import { isTraced } from '../project/control.ts'
import { type OpenProjectOptions, openProject } from '../project/open-project.ts'
import type { Project } from '../project/project.ts'
import { commandsOf, trust, untrusted } from '../project/trust.ts'
import { exportAddress, startExport, type TelemetryExport } from '../telemetry/export.ts'
import { stop, UsageError } from './process.ts'
import { asking, say } from './terminal.ts'

type Switch = 'json' | 'run' | 'failed' | 'cassette' | 'cancel' | 'voice' | 'worker' | 'stdio' | 'fromHistory'
type Value = 'timeout' | 'key' | 'search' | 'out' | 'host' | 'port' | 'token' | 'url' | 'record' | 'replay'
type Filter = 'config' | 'logLevel' | 'tool' | 'since' | 'limit' | 'remember' | 'repeat' | 'min' | 'html'

/** The options of all commands; `model` is a list for `eval`. */
export type Flags = { [Name in Value | Filter]?: string } & {
  [Name in Switch | 'yes' | 'new' | 'logout' | 'browser' | 'check' | 'force' | 'trust']?: boolean
} & { allowHost?: string[]; env?: string[]; header?: string[]; model?: string | string[] }

/** What a command gets. */
export interface Context<Words = unknown> {
  words: Words
  flags: Flags
  /** Opens the project, which is closed after the command. Rejects, before anything runs, if the configuration is wrong. */
  open(settings?: ProjectSettings): Promise<Project>
  project?: Project
  telemetry?: TelemetryExport | undefined
}

export type ProjectSettings = Omit<OpenProjectOptions, 'file' | 'logger' | 'say'> & {
  startsNothing?: boolean
}

const isBundle = import.meta.url.endsWith('/cli.cjs')

export async function openContext(
  context: Context,
  { startsNothing, ...settings }: ProjectSettings = {},
): Promise<Project> {
  const { config: file, logLevel, yes } = context.flags
  // A short-lived command runs its own durable calls only.
  const durable = { role: 'worker', concurrency: 0 } as const
  const logger = (config: ToolpostConfig) => stderrLogger(levelFrom(logLevel, config))
  const project = await openProject({ durable, ...settings, file, logger, say })
  context.project = project
  // Voice and durable calls import `toolpost` as modules: beside the bundle every class would exist twice.
  if (isBundle && (settings.voice || project.config.durable))
    throw Object.assign(new Error(), { name: 'NeedsModules' })
  if (!startsNothing) await askForTrust(project, yes)
  if (isTraced(project.config) && exportAddress() !== undefined)
    context.telemetry = await startExport(project.logger)
  if (context.telemetry?.problem) say(`Traces are not exported: ${context.telemetry.problem}`)
  return project
}

function levelFrom(given: string | undefined, config: ToolpostConfig): LogLevel | 'silent' {
  const level = given ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  if (level === 'silent' || LOG_LEVELS.includes(level as LogLevel)) return level as LogLevel | 'silent'
  throw new UsageError(`invalid log level '${level}'; expected one of ${LOG_LEVELS.join(', ')}, silent`)
}

/** Asks once, at a terminal, whether the commands of a configuration may run on this machine. Throws if not. */
async function askForTrust({ file, config, logger }: Project, isApproved = false): Promise<void> {
  const unknown = file === undefined ? [] : untrusted(file, config)
  if (file === undefined || unknown.length === 0) return
  if (!isApproved && !(process.stdin.isTTY && process.stderr.isTTY))
    return logger.warn({ file }, 'The commands of this configuration were never approved here')
  if (!isApproved) {
    const commands = unknown.map(({ text }) => `\n  ${text}`).join('')
    const message = `${file} starts these programs, which were never approved on this machine:${commands}`
    const { action } = await asking()({ message: `${message}\nRun them?`, signal: stop.signal })
    const other = '`toolpost trust` approves these commands, `--yes` does so for any command'
    if (action !== 'accept') throw new UsageError(`Nothing was started. ${other}`)
  }
  approve(file, config)
}

export function approve(file: string, { mcpServers }: ToolpostConfig): void {
  try {
    trust(file, commandsOf(mcpServers))
  } catch (error) {
    say(`The approval could not be saved: ${(error as Error).message}`)
  }
}
