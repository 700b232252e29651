import { dirname } from 'node:path'
import { type Assembled, assemble } from '../config/assemble.ts'
import { builtInExample } from '../config/built-in-example.ts'
import { ConfigError, type ToolpostConfig } from '../config/config.ts'
import { fillEnvironment } from '../config/fill-environment.ts'
import { readConfig } from '../config/read-config.ts'
import { LOG_LEVELS, type Logger, type LogLevel } from '../logging/logger.ts'
import { stderrLogger } from '../logging/stderr-logger.ts'
import { ToolDefinitionError } from '../tools/check-tool.ts'
import { UsageError } from './exit-codes.ts'
import { Servers } from './servers.ts'
import type { StopSignals } from './stop-signals.ts'
import type { Terminal } from './terminal.ts'

export interface GlobalOptions {
  config?: string
  logLevel?: string
}

export interface Session extends Assembled {
  config: ToolpostConfig
  /** Where the configuration was read from; `undefined` for the built-in example. */
  file: string | undefined
  logger: Logger
  /** The MCP servers; none is started before a command asks for it. */
  servers: Servers
  /** Every command ends soon after its signal is aborted; its servers are closed then. */
  stop: StopSignals
}

/** Everything a command needs. Throws, before anything runs, where the configuration is wrong. */
export async function openSession(
  options: GlobalOptions,
  terminal: Terminal,
  stop: StopSignals,
): Promise<Session> {
  const loaded = await readConfig(options.config)
  const file = loaded?.file
  const config = loaded ? withEnvironment(loaded.config, loaded.file) : builtInExample()
  const logger = stderrLogger(levelFrom(options, config))
  const assembled = assembleChecked(config, file, logger)
  const servers = new Servers({ config, isExample: !loaded, tools: assembled.tools, logger, terminal })
  return { ...assembled, config, file, logger, servers, stop }
}

function withEnvironment(config: ToolpostConfig, file: string): ToolpostConfig {
  return fillEnvironment(config, { file, folder: dirname(file), environment: process.env })
}

/** A tool that cannot be used is a mistake of the configuration that declares it. */
function assembleChecked(config: ToolpostConfig, file: string | undefined, logger: Logger): Assembled {
  try {
    return assemble(config, logger)
  } catch (error) {
    if (!(error instanceof ToolDefinitionError)) throw error
    throw new ConfigError(file ?? 'configuration', 'tools', error.message, { cause: error })
  }
}

function levelFrom({ logLevel }: GlobalOptions, config: ToolpostConfig): LogLevel | 'silent' {
  const level = logLevel ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  if (level === 'silent' || LOG_LEVELS.includes(level as LogLevel)) return level as LogLevel | 'silent'
  throw new UsageError(`'${level}' is no log level; there are ${LOG_LEVELS.join(', ')}, silent`)
}
