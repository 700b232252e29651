import type { ToolpostConfig } from '../config/config.ts'
import { LOG_LEVELS, type LogLevel } from '../logging/logger.ts'
import { stderrLogger } from '../logging/stderr-logger.ts'
import { type OpenProjectOptions, openProject } from '../project/open-project.ts'
import type { Project } from '../project/project.ts'
import { UsageError } from './exit-codes.ts'
import type { StopSignals } from './stop-signals.ts'
import { say, type Terminal } from './terminal.ts'

export interface GlobalOptions {
  config?: string
  logLevel?: string
}

/** What a command works with. */
export interface CommandContext {
  project: Project
  terminal: Terminal
  /** Every command ends soon after its signal is aborted; its project is closed then. */
  stop: StopSignals
}

/** What a command asks of its project. */
export type ProjectWishes = Pick<OpenProjectOptions, 'model' | 'voice'>

/** Everything a command needs. Throws, before anything runs, if the configuration is wrong. */
export async function openContext(
  options: GlobalOptions,
  { terminal, stop }: Omit<CommandContext, 'project'>,
  wishes: ProjectWishes = {},
): Promise<CommandContext> {
  const project = await openProject({
    ...wishes,
    file: options.config,
    logger: config => stderrLogger(levelFrom(options, config)),
    say: text => say(terminal, text),
  })
  return { project, terminal, stop }
}

function levelFrom({ logLevel }: GlobalOptions, config: ToolpostConfig): LogLevel | 'silent' {
  const level = logLevel ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  if (level === 'silent' || LOG_LEVELS.includes(level as LogLevel)) return level as LogLevel | 'silent'
  throw new UsageError(`invalid log level '${level}'; expected one of ${LOG_LEVELS.join(', ')}, silent`)
}
