import { dirname } from 'node:path'
import { builtInExample } from '../config/built-in-example.ts'
import { ConfigError, type ToolpostConfig } from '../config/config.ts'
import { fillEnvironment } from '../config/fill-environment.ts'
import { readConfig } from '../config/read-config.ts'
import type { Logger } from '../logging/logger.ts'
import { ToolDefinitionError } from '../tools/check-tool.ts'
import { type Assembled, assemble } from './assemble.ts'
import { Servers } from './servers.ts'

export interface OpenProjectOptions {
  /** The configuration; `toolpost.json` in the current folder if left out, or else the built-in example. */
  file?: string | undefined
  /** The logger, for a configuration that may say how much is logged. */
  logger(config: ToolpostConfig): Logger
  /** Told what a person should know: why a server could not be had. */
  say(text: string): void
}

/** What a configuration describes: its tools, their executor and its servers. */
export interface Project extends Assembled {
  config: ToolpostConfig
  /** Where the configuration was read from; `undefined` for the built-in example. */
  file: string | undefined
  logger: Logger
  /** The MCP servers; none is started before it is asked for. */
  servers: Servers
}

/** Reads a configuration and makes what it describes. Rejects, before anything runs, where it is wrong. */
export async function openProject({ file, logger: loggerFor, say }: OpenProjectOptions): Promise<Project> {
  const loaded = await readConfig(file)
  const config = loaded ? withEnvironment(loaded.config, loaded.file) : builtInExample()
  const logger = loggerFor(config)
  const assembled = assembleChecked(config, loaded?.file, logger)
  const servers = new Servers({ config, isExample: !loaded, tools: assembled.tools, logger, say })
  return { ...assembled, config, file: loaded?.file, logger, servers }
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
