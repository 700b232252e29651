import type { LimitOptions, PolicyRule } from '../interceptors/index.ts'
import type { LogLevel } from '../logging/logger.ts'
import type { ServerEntry } from '../mcp/index.ts'
import type { ToolDeclaration } from '../tools/declared-tools.ts'
import type { ToolShape } from '../tools/shape.ts'

export const DEFAULT_PORT = 4040

/** The contents of `toolpost.json`. `toolpost.schema.json` says what each key means; names are patterns with `*` and `?`. */
export interface ToolpostConfig {
  include?: string[]
  executor?: { timeoutMs?: number; slowMs?: number; maxTextBytes?: number }
  tools?: ToolDeclaration[]
  local?: string[] | false
  shape?: Record<string, ToolShape>
  mcpServers?: Record<string, ServerConfig>
  mcp?: { retry?: { attempts?: number; baseDelayMs?: number }; connectTimeoutMs?: number }
  model?: string
  models?: {
    maxTools?: number
    pin?: string[]
    ollama?: { think?: boolean | Record<string, boolean>; keepAlive?: string | number; maxContext?: number }
    openai?: { baseUrl?: string; apiKey?: string; images?: boolean }
  }
  fastPath?: boolean
  sentences?: SentencesConfig
  bigResults?: 'keep' | 'cut'
  documents?: string
  search?: { searxng?: string }
  gateway?: {
    host?: string
    port?: number
    token?: string | false
    oauth?: OAuthConfig
    toolSearch?: boolean
  }
  policy?: PolicyRule[]
  approvals?: { timeoutMs?: number; notify?: NotifyConfig }
  pins?: 'off' | 'warn' | 'hold'
  clients?: Record<string, ClientConfig>
  limits?: Partial<Record<'tools' | 'servers' | 'callers', Record<string, LimitOptions>>> & {
    breaker?: { failures?: number; coolDownMs?: number } | boolean
  }
  voice?: VoiceConfig
  trace?: { arguments?: boolean; results?: boolean; url?: string } | false
  history?: { file?: string; days?: number; maxMb?: number } | false
  durable?: DurableConfig | boolean
  log?: { level?: LogLevel | 'silent'; secrets?: string[] }
}

type Names = Record<string, string[]>

export interface NotifyConfig {
  url?: string
  secret?: string
  mqtt?: { url: string; topic: string; username?: string; password?: string }
}

interface SentencesConfig extends Partial<Record<'floors' | 'rooms' | 'groups' | 'aliases', Names>> {
  folder?: string
  language?: string
  rules?: Record<string, string>
  lists?: Record<string, object>
}

interface ClientConfig extends Partial<Record<'tools' | 'resources' | 'prompts', string[]>> {
  token: string
  approves?: boolean
  toolSearch?: boolean
}

/** The gateway as an OAuth resource server: whose tokens it accepts, and which tools they grant access to. */
export interface OAuthConfig {
  issuer: string
  audience: string
  /** The gateway's public MCP URL; by default the audience if that is a URL, or else the URL of the request. */
  resource?: string | undefined
  scopes?: Readonly<Record<string, readonly string[]>> | undefined
}

export interface DurableConfig {
  databaseUrl?: string
  pool?: string
  tools?: string[]
  concurrency?: number
  /** By MCP server, or `local` for other tools: limits shared by all workers of the pool. */
  servers?: Record<string, { concurrency?: number; perMinute?: number }>
  days?: number
}

export interface VoiceConfig {
  transcriber?: 'moonshine' | 'moonshine-base' | 'whisper.cpp'
  whisper?: { command?: string; model: string }
  speaker?: 'auto' | 'piper' | 'espeak-ng' | 'say' | 'none'
  piperModel?: string
  language?: string
  player?: string
  mqtt?: { url?: string; username?: string; password?: string; clientId?: string }
  microphone?: boolean
  bargeIn?: boolean
  filler?: string
}

export type ServerConfig = ServerEntry & {
  envFile?: string
  disabled?: boolean
}

/** A mistake in the configuration: in which file, where, and what is expected there. */
export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(file: string, place: string, problem: string, options?: ErrorOptions) {
    super(`${file}${place === '' ? '' : `, ${place}`}: ${problem}`, options)
  }
}
