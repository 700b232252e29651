import { type Assembled, assemble } from '../config/assemble.ts'
import { builtInExample } from '../config/built-in-example.ts'
import { ConfigError, type ToolpostConfig } from '../config/config.ts'
import { readConfig } from '../config/read-config.ts'
import { LOG_LEVELS, type Logger, type LogLevel } from '../logging/logger.ts'
import { stderrLogger } from '../logging/stderr-logger.ts'
import { ToolDefinitionError } from '../tools/check-tool.ts'
import { UsageError } from './exit-codes.ts'

export interface GlobalOptions {
  config?: string
  logLevel?: string
}

export interface Session extends Assembled {
  config: ToolpostConfig
  /** Where the configuration was read from; `undefined` for the built-in example. */
  file: string | undefined
  logger: Logger
}

/** Everything a command needs. Throws, before anything runs, where the configuration is wrong. */
export async function openSession(options: GlobalOptions): Promise<Session> {
  const loaded = (await readConfig(options.config)) ?? { config: builtInExample(), file: undefined }
  const logger = stderrLogger(levelFrom(options, loaded.config))
  return { ...loaded, logger, ...assembleChecked(loaded.config, loaded.file, logger) }
}

/** A tool that cannot be used is a mistake of the configuration that declares it. */
function assembleChecked(config: ToolpostConfig, file: string | undefined, logger: Logger): Assembled {
  try {
    return assemble(config, logger)
  } catch (error) {
    if (error instanceof ToolDefinitionError)
      throw new ConfigError(file ?? 'configuration', 'tools', error.message, { cause: error })
    throw error
  }
}

function levelFrom({ logLevel }: GlobalOptions, config: ToolpostConfig): LogLevel | 'silent' {
  const level = logLevel ?? process.env.TOOLPOST_LOG ?? config.log?.level ?? 'fatal'
  if (level === 'silent' || LOG_LEVELS.includes(level as LogLevel)) return level as LogLevel | 'silent'
  throw new UsageError(`'${level}' is no log level; there are ${LOG_LEVELS.join(', ')}, silent`)
}
