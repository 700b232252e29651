import type { LimitOptions, PolicyRule } from '../interceptors/index.ts'
import type { NotifyConfig } from '../interceptors/notify.ts'
import type { LogLevel } from '../logging/logger.ts'
import type { ServerEntry } from '../mcp/index.ts'
import type { ToolDeclaration } from '../tools/declared-tools.ts'
import type { ToolShape } from '../tools/shape.ts'

export const DEFAULT_PORT = 4040

type Texts<Key extends string> = Partial<Record<Key, string>>
type Lists<Key extends string> = Partial<Record<Key, string[]>>

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
  sentences?: Texts<'folder' | 'language'> & {
    [Key in 'floors' | 'rooms' | 'groups' | 'aliases']?: Record<string, string[]>
  } & { rules?: Record<string, string>; lists?: Record<string, object> }
  bigResults?: 'keep' | 'cut'
  documents?: string
  search?: { searxng?: string }
  gateway?: {
    host?: string
    port?: number
    token?: string | false
    oauth?: OAuthConfig | undefined
    toolSearch?: boolean
  }
  policy?: PolicyRule[]
  approvals?: { timeoutMs?: number; notify?: NotifyConfig }
  pins?: 'off' | 'warn' | 'hold'
  clients?: ClientList | undefined
  limits?: Partial<Record<'tools' | 'servers' | 'callers', Record<string, LimitOptions>>> & {
    breaker?: { failures?: number; coolDownMs?: number } | false
  }
  voice?: VoiceConfig
  trace?: { arguments?: boolean; results?: boolean; url?: string } | false
  history?: { file?: string; days?: number; maxMb?: number } | false
  durable?: DurableConfig | boolean
  log?: { level?: LogLevel | 'silent'; secrets?: string[] }
}

/**
 * Someone with a token, and what they may use: patterns with `*` and `?`. All tools if `tools` is left out. Resources
 * and prompts: those named; all of them only if nothing is named at all.
 */
export interface ClientOptions {
  token: string
  tools?: readonly string[] | undefined
  /** URIs. */
  resources?: readonly string[] | undefined
  prompts?: readonly string[] | undefined
  /** Whether it may decide about other clients' waiting calls; by default only the owner does. */
  approves?: boolean | undefined
  /** Over MCP, search tools instead of listing more than a model should be shown; the gateway's setting if left out. */
  toolSearch?: boolean | undefined
}

export type ClientList = Readonly<Record<string, ClientOptions>>

/** The gateway as an OAuth resource server: whose tokens it accepts, and which tools they grant access to. */
export interface OAuthConfig {
  issuer: string
  audience: string
  /** The gateway's public MCP URL; by default the audience if that is a URL, or else the URL of the request. */
  resource?: string | undefined
  scopes?: Readonly<Record<string, readonly string[]>> | undefined
}

interface DurableConfig extends Texts<'databaseUrl' | 'pool'>, Lists<'tools'> {
  concurrency?: number
  /** By MCP server, or `local` for other tools: limits shared by all workers of the pool. */
  servers?: Record<string, { concurrency?: number; perMinute?: number }>
  days?: number
}

export interface VoiceConfig extends Texts<'piperModel' | 'language' | 'player' | 'filler'> {
  transcriber?: 'moonshine' | 'moonshine-base' | 'whisper.cpp'
  whisper?: { command?: string; model: string }
  speaker?: 'auto' | 'piper' | 'espeak-ng' | 'say' | 'none'
  mqtt?: Texts<'url' | 'username' | 'password' | 'clientId'>
  microphone?: boolean
  bargeIn?: boolean
}

export type ServerConfig = ServerEntry & { envFile?: string; disabled?: boolean }

/** A mistake in the configuration: in which file, where, and what is expected there. */
export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(file: string, place: string, problem: string, options?: ErrorOptions) {
    super(`${file}${place === '' ? '' : `, ${place}`}: ${problem}`, options)
  }
}
