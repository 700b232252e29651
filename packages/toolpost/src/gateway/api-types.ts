/*
 * The data of the HTTP API. Types only, so that the console imports them and nothing else of the gateway.
 */
import type { BreakerStatus } from '../call/breaker-status.ts'
import type { Diagnosis, ToolFailure, ToolResult, ToolSuccess } from '../call/tool-result.ts'
import type { Approval } from '../interceptors/index.ts'
import type { ServerState, ServerStatus } from '../mcp/server-status.ts'
import type { Run, RunState, RunStep } from '../project/durable.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Progress } from '../tools/tool.ts'
import type { AnswerPart, ChatTurn, ConversationInfo, ConversationRecord } from './chat/chat-types.ts'

export type {
  AnswerPart,
  Approval,
  BreakerStatus,
  ChatTurn,
  ConversationInfo,
  ConversationRecord,
  Diagnosis,
  JsonSchema,
  Progress,
  Run,
  RunState,
  RunStep,
  ServerState,
  ServerStatus,
  ToolFailure,
  ToolResult,
  ToolSuccess,
}

/** A tool, as `GET /api/tools` lists it. */
export interface ToolInfo {
  name: string
  title?: string
  description: string
  /** `local`, or the name of its server. */
  source: string
  signature: string
  schema: JsonSchema
  outputSchema?: JsonSchema
  readOnly?: boolean
  idempotent?: boolean
  destructive?: boolean
  timeoutMs?: number
  /** How it can be asked for in words, as its templates have it. */
  sentences?: string[]
}

/** A call as the console shows it. Plain data, without secrets; no `result` while it is under way. */
export interface CallRecord {
  serial: number
  id?: string
  tool: string
  /** `local`, or the name of the server whose tool it is. */
  source: string
  /** Where it came from: `http`, `mcp`, `chat` … */
  origin: string
  /** On whose behalf, if that is known: one of the clients, or `default`. */
  caller?: string
  args: unknown
  /** Milliseconds since 1970. */
  startedAt: number
  durationMs?: number
  /** How long it was held back of that: for a person's decision, for a free place. */
  waitedMs?: number
  slow: boolean
  /** How far it is, while it is under way, if its tool tells. */
  progress?: Progress
  /** When its tool was found and its arguments fitted, in milliseconds since the beginning. */
  stages?: { foundMs: number; fittedMs: number }
  /** What interceptors wrote down: `rule`, `approval`, `limit`, `trace_id` … */
  notes?: Record<string, unknown>
  result?: ToolResult
  /** The policy's rule, the approval and the trace, if there were any. */
  rule?: string
  approval?: unknown
  traceId?: string
  /** Where its trace is shown, if the configuration says so. */
  traceUrl?: string
}

/** Calls that have ended, newest first, as `GET /api/calls` with parameters answers. */
export interface CallPage {
  calls: CallRecord[]
  /** The `cursor` of the next page; absent on the last one. */
  next?: string
}

/** Which client answers the chat, and why. */
export interface ModelInfo {
  name: string
  why: string
  /** Whether speech can be turned into text; `GET /api/model` adds it. */
  voice?: boolean
}

/** A question of a tool to whoever made the call, as MCP's elicitation has it. */
export interface OpenQuestion {
  id: string
  message: string
  /** The server that asks; a tool of the program if left out. */
  server?: string
  /** The tool that was called; left out in a chat. */
  tool?: string
  /** Who made the call, if that is known. */
  caller?: string
  /** What the answer must look like; a plain yes or no if there is neither this nor `url`. */
  schema?: JsonSchema
  /** Fields that look like secrets: no server may ask for those. */
  secretFields?: readonly string[]
  /** An address to visit, instead of a form to fill in. */
  url?: string
  /** In milliseconds since 1970. */
  askedAt: number
  expiresAt: number
}

/** The data of the events of `GET /api/events`, by type. */
export interface GatewayEvents {
  /** A call begins, or has ended: then it has a `result`. */
  call: CallRecord
  /** A durable run was accepted, went on, or has ended: then it has a `result`. */
  run: Run
  /** How far a call is that was told of before. */
  progress: Progress & { serial: number; caller?: string }
  servers: { servers: readonly ServerStatus[] }
  /** The list of tools has changed: fetch it again. */
  tools: Record<string, never>
  /** What waits for a person's decision. */
  approvals: { approvals: readonly Approval[] }
  /** What tools ask whoever called them. */
  questions: { questions: readonly OpenQuestion[] }
  /** Speech to text has come or gone. */
  voice: { available: boolean }
}

/** The data of the events of `POST /api/chat`, by type. The last one is always `end`. */
export interface ChatEvents {
  token: { text: string }
  call: ChatCall
  /** Every second while the model is being loaded into memory, and when that is done. */
  status: { state: 'loading' | 'loaded'; model: string; elapsedMs: number }
  end: ChatEnd
}

/** A call that the chat's model makes. */
export interface ChatCall {
  phase: 'start' | 'end'
  id: string
  name: string
  args: unknown
  /** At its end. */
  result?: ToolResult
}

export interface ChatEnd {
  text: string
  /** To be sent with the next question of the same conversation. */
  conversation: string
  stopReason: 'answer' | 'max_iterations' | 'time_limit' | 'repeated_failure' | 'stopped' | 'error'
  /** The name of the model that answered. */
  model: string
  /** From the question to the end. */
  durationMs?: number
  /** In tokens, if the model tells. */
  usage?: { input?: number | undefined; output?: number | undefined } | undefined
  /** What went wrong, if something did. */
  error?: string
}

/** What `POST /api/transcriptions` understood. */
export interface Transcription {
  text: string
  durationMs: number
}

/** The answer to a request that the gateway refuses. */
export interface ApiError {
  error: string
}
