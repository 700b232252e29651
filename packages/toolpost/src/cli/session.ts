import type { ToolpostConfig } from '../config/config.ts'
import { LOG_LEVELS, type LogLevel } from '../logging/logger.ts'
import { stderrLogger } from '../logging/stderr-logger.ts'
import { openProject, type Project } from '../project/open-project.ts'
import { UsageError } from './exit-codes.ts'
import type { StopSignals } from './stop-signals.ts'
import { say, type Terminal } from './terminal.ts'

export interface GlobalOptions {
  config?: string
  logLevel?: string
}

export interface Session extends Project {
  /** Every command ends soon after its signal is aborted; its servers are closed then. */
  stop: StopSignals
}

/** Everything a command needs. Throws, before anything runs, where the configuration is wrong. */
export async function openSession(
  options: GlobalOptions,
  terminal: Terminal,
  stop: StopSignals,
): Promise<Session> {
  const project = await openProject({
    file: options.config,
    logger: config => stderrLogger(levelFrom(options, config)),
    say: text => say(terminal, text),
  })
  return { ...project, stop }
}

function levelFrom({ logLevel }: GlobalOptions, config: ToolpostConfig): LogLevel | 'silent' {
  const level = logLevel ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  if (level === 'silent' || LOG_LEVELS.includes(level as LogLevel)) return level as LogLevel | 'silent'
  throw new UsageError(`'${level}' is no log level; there are ${LOG_LEVELS.join(', ')}, silent`)
}
