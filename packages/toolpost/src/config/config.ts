import type { PolicyRule } from '../interceptors/index.ts'
import type { LogLevel } from '../logging/logger.ts'
import type { ServerEntry } from '../mcp/index.ts'
import type { ToolDeclaration } from '../tools/declared-tools.ts'

/** What `toolpost.json` may say; `toolpost.schema.json` is the same for editors, and what a file is checked against. */
export interface ToolpostConfig {
  /** Files of other programs, or of ours: their servers join those of `mcpServers`. */
  include?: string[]
  executor?: { timeoutMs?: number; slowMs?: number; maxTextBytes?: number }
  tools?: ToolDeclaration[]
  mcpServers?: Record<string, ServerConfig>
  mcp?: { retry?: { attempts?: number; baseDelayMs?: number }; connectTimeoutMs?: number }
  model?: string
  models?: ModelsConfig
  fastPath?: boolean
  sentences?: SentencesConfig
  /** Results that are too long for a model: kept and read in parts, or cut in the middle. */
  bigResults?: 'keep' | 'cut'
  documents?: string
  search?: { searxng?: string }
  gateway?: { host?: string; port?: number; oauth?: OAuthConfig; toolSearch?: boolean }
  /** Which calls run, which are asked about, which are refused; the first rule that fits decides. */
  policy?: PolicyRule[]
  approvals?: { timeoutMs?: number }
  /** Who may call the gateway with which token, and which tools: patterns with `*` and `?`. */
  clients?: Record<string, ClientConfig>
  limits?: LimitsConfig
  voice?: VoiceConfig
  /** Spans of OpenTelemetry: with what is in the calls, and where a trace is shown; or none at all. */
  trace?: { arguments?: boolean; results?: boolean; url?: string } | false
  /** Where calls are kept, and for how long; `false`: nowhere. */
  history?: HistoryConfig | false
  /** Calls that survive a crash and spread over machines; `true`: with a PostgreSQL of Toolpost's own. */
  durable?: DurableConfig | boolean
  /** `secrets` are more names whose values no log may show. */
  log?: { level?: LogLevel | 'silent'; secrets?: string[] }
}

/** How things are said at home: rooms, groups and other names, and what sentences refer to. */
interface SentencesConfig {
  rooms?: Record<string, string[]>
  groups?: Record<string, string[]>
  aliases?: Record<string, string[]>
  rules?: Record<string, string>
  lists?: Record<string, (string | { say: string | string[]; value?: unknown })[] | ListSourceConfig>
}

/** A list that a tool fills. */
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
  toolSearch?: boolean
}

/** How models are used. */
interface ModelsConfig {
  /** More tools than this are searched instead of shown; 40 if left out. */
  maxTools?: number
  /** Names of tools that are always shown, with `*` and `?`. */
  pin?: string[]
  /** Take a call that a model writes as text, if it would run without anybody being asked. */
  salvage?: boolean
  ollama?: { think?: boolean | Record<string, boolean>; keepAlive?: string | number; maxContext?: number }
}

/** The gateway as an OAuth resource server: whose tokens it takes, and what they open. */
export interface OAuthConfig {
  /** The address of the authorization server, exactly as it stands in its tokens. */
  issuer: string
  /** Whom its tokens are for. */
  audience: string
  /** The gateway's public MCP address; if left out, the audience if that is an address, or else the address asked. */
  resource?: string | undefined
  /** By scope, the tools it opens: patterns with `*` and `?`. Without any, a valid token opens all tools. */
  scopes?: Readonly<Record<string, readonly string[]>> | undefined
}

/** How many calls run at once and begin a minute; patterns with `*` and `?`. */
interface LimitsConfig {
  tools?: Record<string, LimitConfig>
  servers?: Record<string, LimitConfig>
  callers?: Record<string, LimitConfig>
  /** Spares servers that do not answer; on unless it is `false`. */
  breaker?: { failures?: number; coolDownMs?: number } | boolean
}

interface LimitConfig {
  concurrency?: number
  queue?: number
  maxWaitMs?: number
  perMinute?: number
}

/** How calls are kept by `toolpost up`. */
interface HistoryConfig {
  file?: string
  days?: number
  maxMb?: number
}

/** Where durable calls are kept, and who runs them. */
export interface DurableConfig {
  /** A PostgreSQL to use; left out, one is started. */
  databaseUrl?: string
  /** The workers that share these tools. */
  pool?: string
  /** Tools whose calls are always durable: patterns with `*` and `?`. */
  tools?: string[]
  /** How many runs a worker has under way at once. */
  concurrency?: number
  /** By tool, with `*` and `?`: limits that hold across all workers of the pool. */
  limits?: Record<string, { concurrency?: number; perMinute?: number }>
  /** How many days runs are kept after their end. */
  days?: number
}

/** How the voice gateway hears, speaks and is reached. */
export interface VoiceConfig {
  transcriber?: 'moonshine' | 'moonshine-base' | 'whisper.cpp'
  /** whisper.cpp's program, and the file of its model. */
  whisper?: { command?: string; model: string }
  speaker?: 'auto' | 'piper' | 'espeak-ng' | 'say' | 'none'
  /** The file of piper's voice. */
  piperModel?: string
  /** The voice of espeak-ng: `en-us`, `de` … */
  language?: string
  /** The program that plays sound; `none` for silence. */
  player?: string
  mqtt?: { url?: string; username?: string; password?: string; clientId?: string }
  /** Names that are said to a model, and that it would hear otherwise. */
  hotwords?: string[]
  microphone?: boolean
  /** Listen also while it speaks itself: for headsets. */
  bargeIn?: boolean
  /** Said when an answer takes its time. */
  filler?: string
}

/** An MCP server as it stands in the file, with what some editors write beside it. */
export type ServerConfig = ServerEntry & {
  /** Variables for `env`, from a file. */
  envFile?: string
  disabled?: boolean
}

/** A mistake in the configuration: which file, which place, what is expected there. */
export class ConfigError extends Error {
  override name = 'ConfigError'

  constructor(file: string, place: string, problem: string, options?: ErrorOptions) {
    super(`${file}${place === '' ? '' : `, ${place}`}: ${problem}`, options)
  }
}
