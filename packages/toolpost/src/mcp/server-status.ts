import type { BreakerStatus } from '../call/breaker-status.ts'

/**
 * `starting → ready → lost → starting → …`; `failed` after the first attempts, and then tried slowly; `needs_login` until
 * somebody logs in; `closed` at the end.
 */
export type ServerState = 'starting' | 'ready' | 'lost' | 'failed' | 'needs_login' | 'closed'

/** What a server says about itself. */
export interface ServerInfo {
  name?: string
  title?: string
  version?: string
  instructions?: string
}

/** A server as the program sees it now. Plain data. */
export interface ServerStatus {
  name: string
  state: ServerState
  /** Of the connection that is there, or is being made: which attempt. */
  attempts: number
  /** The names that its tools are registered under. */
  tools: string[]
  /** Why it is not ready. */
  error: string | undefined
  /** The end of what it wrote to stderr, without secrets; empty for a server over HTTP. */
  stderr: string
  /** Of its last process that ended; `null` for what never ran. */
  exitCode: number | null
  pid: number | undefined
  /** Non-JSON-RPC lines on its stdout. */
  junkLines: number
  /** ISO time; only while an attempt is waited for. */
  nextAttemptAt: string | undefined
  /** From the start to the first time that it was ready. */
  readyAfterMs: number | undefined
  protocolVersion: string | undefined
  info?: ServerInfo | undefined
  /** Its command with its arguments, or its address, without secrets. */
  target?: string | undefined
  /** What it can do beside tools: `resources`, `prompts`, `logging` … */
  capabilities?: string[] | undefined
  /** Since when it is ready, in milliseconds since 1970. */
  readySince?: number | undefined
  /** What to look at first, if it is not ready. */
  hint?: string | undefined
  /** Whether calls reach it, if it has a breaker; the project adds this. */
  breaker?: BreakerStatus
}
