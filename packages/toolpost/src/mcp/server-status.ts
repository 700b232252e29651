import type { BreakerStatus } from '../call/breaker-status.ts'

/**
 * `starting → ready → lost → starting → …`; `failed` after the first attempts, and retried slowly from then on; `needs_login`
 * until the user logs in; `closed` at the end.
 */
export type ServerState = 'starting' | 'ready' | 'lost' | 'failed' | 'needs_login' | 'closed'

export type ServerInfo = Partial<Record<'name' | 'title' | 'version' | 'instructions', string>>

export interface ServerStatus {
  name: string
  state: ServerState
  /** The number of the attempt that made, or is making, the current connection. */
  attempts: number
  tools: string[]
  error: string | undefined
  /** The tail of its stderr, without secrets; empty for a server over HTTP. */
  stderr: string
  /** The exit code of its last process that ended; `null` if it never ran. */
  exitCode: number | null
  pid: number | undefined
  junkLines: number
  /** ISO time; only while waiting for an attempt. */
  nextAttemptAt: string | undefined
  protocolVersion: string | undefined
  info?: ServerInfo | undefined
  target?: string | undefined
  /** What it supports besides tools: `resources`, `prompts`, `logging` … */
  capabilities?: string[] | undefined
  /** Since when it has been ready, in milliseconds since 1970. */
  readySince?: number | undefined
  hint?: string | undefined
  /** Whether calls reach it, if it has a breaker; the project adds this. */
  breaker?: BreakerStatus
}
