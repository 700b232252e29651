/* What the gateway's HTTP API speaks of. Plain data; values of tools are `unknown` and never trusted. */

export type JsonSchema = { [keyword: string]: unknown }

export interface ToolInfo {
  name: string
  title?: string
  description: string
  /** `local`, or the name of the MCP server. */
  source: string
  signature: string
  schema: JsonSchema
  outputSchema?: JsonSchema
  readOnly?: boolean
  idempotent?: boolean
  destructive?: boolean
  timeoutMs?: number
}

export interface Diagnosis {
  required?: string
  signature?: string
  suggestions?: string[]
  causes?: string[]
  details?: Record<string, unknown>
}

interface ResultBase {
  tool_name: string
  execution_time_ms: number
  tool_call_id?: string
  repairs?: string[]
}

interface ToolSuccess extends ResultBase {
  success: true
  result: unknown
  text?: string
}

export interface ToolFailure extends ResultBase {
  success: false
  error: string
  code: string
  diagnosis?: Diagnosis
}

export type ToolResult = ToolSuccess | ToolFailure

export interface ServerStatus {
  name: string
  state: 'starting' | 'ready' | 'lost' | 'failed' | 'closed'
  attempts: number
  tools: string[]
  error?: string
  stderr: string
  exitCode: number | null
  pid?: number
  junkLines: number
  nextAttemptAt?: string
  readyAfterMs?: number
  protocolVersion?: string
}

export interface CallRecord {
  serial: number
  id?: string
  tool: string
  source: string
  origin?: string
  args: unknown
  startedAt: number
  durationMs?: number
  slow: boolean
  /** Absent while the call is under way. */
  result?: ToolResult
}

export interface ModelInfo {
  name: string
  why: string
  /** Whether speech can be turned into text. */
  voice?: boolean
}

export interface ChatCall {
  phase: 'start' | 'end'
  id: string
  name: string
  args: unknown
  result?: ToolResult
}

export interface ChatEnd {
  text: string
  conversation: string
  stopReason: string
  model?: string | ModelInfo
  error?: string
}
