import type { LogLevel } from '../logging/logger.ts'
import type { ParameterNames } from '../tools/argument-names.ts'
import type { ToolDeclaration } from '../tools/declared-tools.ts'

/** What `toolpost.json` may say; `toolpost.schema.json` is the same for editors, and what a file is checked against. */
export interface ToolpostConfig {
  executor?: { timeoutMs?: number; slowMs?: number; maxTextBytes?: number }
  tools?: ToolDeclaration[]
  mcpServers?: Record<string, ServerConfig>
  mcp?: { retry?: { attempts?: number; baseDelayMs?: number }; connectTimeoutMs?: number }
  model?: string
  fastPath?: boolean
  documents?: string
  search?: { searxng?: string }
  gateway?: { host?: string; port?: number }
  log?: { level?: LogLevel | 'silent' }
}

/** An MCP server: `command` for one that is started here, `url` for one that runs elsewhere. */
export interface ServerConfig {
  type?: string
  command?: string
  args?: string[]
  env?: Record<string, string>
  envFile?: string
  cwd?: string
  url?: string
  headers?: Record<string, string>
  disabled?: boolean
  timeoutMs?: number
  maxTimeoutMs?: number
  maxLineBytes?: number
  parameterNames?: ParameterNames
  include?: string[]
  exclude?: string[]
  sentences?: Record<string, string[]>
}

/** A mistake in the configuration: which file, which place, what is expected there. */
export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(file: string, place: string, problem: string, options?: ErrorOptions) {
    super(`${file}${place === '' ? '' : `, ${place}`}: ${problem}`, options)
  }
}
