import type { PolicyRule } from '../interceptors/index.ts'
import type { LogLevel } from '../logging/logger.ts'
import type { ServerEntry } from '../mcp/index.ts'
import type { ToolDeclaration } from '../tools/declared-tools.ts'

export const DEFAULT_PORT = 4040

/** The contents of `toolpost.json`; `toolpost.schema.json` says the same, for validation and for editors. */
export interface ToolpostConfig {
  /** Configuration files, of other programs or ours, whose servers join those of `mcpServers`. */
  include?: string[]
  executor?: { timeoutMs?: number; slowMs?: number; maxTextBytes?: number }
  tools?: ToolDeclaration[]
  /** Which local tools there are, by name; `false` for none. */
  local?: string[] | false
  mcpServers?: Record<string, ServerConfig>
  mcp?: { retry?: { attempts?: number; baseDelayMs?: number }; connectTimeoutMs?: number }
  model?: string
  models?: ModelsConfig
  fastPath?: boolean
  sentences?: SentencesConfig
  /** Results too long for a model are kept and read in parts, or cut in the middle. */
  bigResults?: 'keep' | 'cut'
  documents?: string
  search?: { searxng?: string }
  /** `token` is the owner's: a random one, kept in `.toolpost/token`, if left out; `false` turns authentication off. */
  gateway?: {
    host?: string
    port?: number
    token?: string | false
    oauth?: OAuthConfig
    toolSearch?: boolean
  }
  /** Which calls run, need approval, or are denied; the first matching rule decides. */
  policy?: PolicyRule[]
  approvals?: { timeoutMs?: number }
  /** Who may call the gateway, with which token and which tools: patterns with `*` and `?`. */
  clients?: Record<string, ClientConfig>
  limits?: LimitsConfig
  voice?: VoiceConfig
  /** OpenTelemetry spans: what they include of a call, and where traces can be viewed; `false` for none. */
  trace?: { arguments?: boolean; results?: boolean; url?: string } | false
  /** Where calls are recorded, and for how long; `false` for not at all. */
  history?: HistoryConfig | false
  /** Calls that survive a crash and spread over machines; `true` uses an embedded PostgreSQL. */
  durable?: DurableConfig | boolean
  /** `secrets` are additional names whose values must never be logged. */
  log?: { level?: LogLevel | 'silent'; secrets?: string[] }
}

/** The vocabulary of the home: rooms, groups and aliases, and the rules and lists that sentences refer to. */
interface SentencesConfig {
  rooms?: Record<string, string[]>
  groups?: Record<string, string[]>
  aliases?: Record<string, string[]>
  rules?: Record<string, string>
  lists?: Record<string, (string | { say: string | string[]; value?: unknown })[] | ListSourceConfig>
}

/** A list filled by a tool. */
interface ListSourceConfig {
  tool: string
  args?: Record<string, unknown>
  items?: string
  say?: string
  value?: string
}

interface ClientConfig {
  token: string
  tools?: string[]
  resources?: string[]
  prompts?: string[]
  approves?: boolean
  toolSearch?: boolean
}

/** How models are used. */
interface ModelsConfig {
  /** More tools than this are searched instead of shown; 40 if left out. */
  maxTools?: number
  /** Names of tools that are always shown, with `*` and `?`. */
  pin?: string[]
  ollama?: { think?: boolean | Record<string, boolean>; keepAlive?: string | number; maxContext?: number }
}

/** The gateway as an OAuth resource server: whose tokens it accepts, and which tools they grant access to. */
export interface OAuthConfig {
  /** The URL of the authorization server, exactly as in the `iss` of its tokens. */
  issuer: string
  /** The `aud` its tokens must have. */
  audience: string
  /** The gateway's public MCP URL; by default the audience if that is a URL, or else the URL of the request. */
  resource?: string | undefined
  /** The tools each scope grants: patterns with `*` and `?`. Without scopes, a valid token grants all tools. */
  scopes?: Readonly<Record<string, readonly string[]>> | undefined
}

/** How many calls may run at once and start per minute; patterns with `*` and `?`. */
interface LimitsConfig {
  tools?: Record<string, LimitConfig>
  servers?: Record<string, LimitConfig>
  callers?: Record<string, LimitConfig>
  /** Circuit breaker for servers that do not answer; on unless `false`. */
  breaker?: { failures?: number; coolDownMs?: number } | boolean
}

interface LimitConfig {
  concurrency?: number
  queue?: number
  maxWaitMs?: number
  perMinute?: number
}

/** How `toolpost up` records calls. */
interface HistoryConfig {
  file?: string
  days?: number
  maxMb?: number
}

/** Where durable calls are stored, and who runs them. */
export interface DurableConfig {
  /** The PostgreSQL to use; if left out, an embedded one is started. */
  databaseUrl?: string
  /** The pool of workers that share these tools. */
  pool?: string
  /** Tools whose calls are always durable: patterns with `*` and `?`. */
  tools?: string[]
  /** How many runs of one server a worker executes at once. */
  concurrency?: number
  /** By MCP server, or `local` for other tools: limits shared by all workers of the pool. */
  servers?: Record<string, { concurrency?: number; perMinute?: number }>
  /** Replaced by `servers`. */
  limits?: Record<string, object>
  /** How many days a run is kept after it ends. */
  days?: number
}

/** How the voice gateway hears, speaks and is reached. */
export interface VoiceConfig {
  transcriber?: 'moonshine' | 'moonshine-base' | 'whisper.cpp'
  /** The whisper.cpp program, and its model file. */
  whisper?: { command?: string; model: string }
  speaker?: 'auto' | 'piper' | 'espeak-ng' | 'say' | 'none'
  /** The voice file for piper. */
  piperModel?: string
  /** The voice of espeak-ng: `en-us`, `de` … */
  language?: string
  /** The program that plays sound; `none` for silence. */
  player?: string
  mqtt?: { url?: string; username?: string; password?: string; clientId?: string }
  /** Names the transcriber would otherwise mishear. */
  hotwords?: string[]
  microphone?: boolean
  /** Keep listening while it speaks: for headsets. */
  bargeIn?: boolean
  /** Spoken when an answer takes long. */
  filler?: string
}

/** An MCP server as in the file, with additional keys that some editors write. */
export type ServerConfig = ServerEntry & {
  /** Variables for `env`, from a file. */
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
