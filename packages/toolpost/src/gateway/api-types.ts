/*
 * The data of the HTTP API. Types only, so that the console can import them without the rest of the gateway.
 */

import type { ToolResult } from '../call/tool-result.ts'
import type { StoredCall } from '../history/stored-call.ts'
import type { Approval } from '../interceptors/index.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import type { Answer, ModelStatus, StopReason } from '../models/ai-client.ts'
import type { Run } from '../project/durable.ts'
import type { TimerEvent } from '../project/timers.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Question } from '../tools/caller.ts'
import type { Progress, Tool } from '../tools/tool.ts'

/** A tool, as `GET /api/tools` lists it. */
export interface ToolInfo
  extends Pick<Tool, 'name' | 'title' | 'readOnly' | 'idempotent' | 'destructive' | 'timeoutMs'> {
  description: string
  /** As its server sent it, if invisible text was removed. */
  rawDescription?: string | undefined
  /** `local`, or the name of its server. */
  source: string
  signature: string
  schema: JsonSchema
  outputSchema?: JsonSchema | undefined
  /** Example sentences that call it. */
  sentences?: readonly string[] | undefined
}

/** A call as the console shows it. Plain data, without secrets; no `result` while it is running. */
export type CallRecord = Partial<StoredCall> &
  Pick<StoredCall, 'serial' | 'tool' | 'source' | 'origin' | 'args' | 'startedAt'> & {
    slow: boolean
    /** While it is running, if its tool reports it. */
    progress?: Progress
    /** Where to see its trace, if configured. */
    traceUrl?: string
  }

/** A tool's question to its caller, as in MCP elicitation; with neither `schema` nor `url`, a plain yes or no. */
export interface OpenQuestion
  extends Pick<Question, 'message' | 'server' | 'schema' | 'secretFields' | 'url'> {
  id: string
  /** The tool that was called; left out in a chat. */
  tool?: string | undefined
  /** Who made the call, if known. */
  caller?: string | undefined
  /** In milliseconds since 1970. */
  askedAt: number
  expiresAt: number
}

/** The data of the events of `GET /api/events`, by type. */
export interface GatewayEvents {
  /** A call started or finished; then it has a `result`. */
  call: CallRecord
  /** A durable run was accepted, made progress or finished; then it has a `result`. */
  run: Run
  /** Progress of a call that was announced before. */
  progress: Progress & { serial: string; caller?: string }
  servers: { servers: readonly ServerStatus[] }
  /** The list of tools has changed: fetch it again. */
  tools: Record<string, never>
  /** The calls waiting for approval. */
  approvals: { approvals: readonly Approval[] }
  /** The open questions from tools to their callers. */
  questions: { questions: readonly OpenQuestion[] }
  /** Speech to text became available or unavailable. */
  voice: { available: boolean }
  /** A timer or a command for later has ended. */
  timer: TimerEvent
}

/** The data of the events of `POST /api/chat`, by type. The last one is always `end`. */
export interface ChatEvents {
  token: { text: string }
  call: ChatCall
  /** Every second while the model is being loaded into memory, and once it is loaded. */
  status: ModelStatus
  end: ChatEnd
}

/** A call made by the chat's model. */
export interface ChatCall {
  phase: 'start' | 'end'
  id: string
  name: string
  args: unknown
  /** When it has finished. */
  result?: ToolResult
}

export interface ChatEnd extends Pick<Answer, 'text' | 'usage'>, Partial<Pick<Answer, 'iterations'>> {
  /** Send it with the next question of the same conversation. */
  conversation: string
  stopReason: StopReason | 'stopped' | 'error'
  /** The name of the model that answered. */
  model: string
  /** From the question to the end. */
  durationMs?: number
  /** Every time a model was asked, with its tokens if it reports them. */
  model_calls?: Answer['modelCalls']
  /** What went wrong, if anything did. */
  error?: string
}

/** An answer is text and calls, in the order they arrived. */
export type AnswerPart = { kind: 'text'; text: string } | { kind: 'call'; call: ChatCall }

/** A question and its answer. Plain data, without secrets. */
export interface ChatTurn {
  question: string
  /** Milliseconds since 1970. */
  askedAt: number
  parts: AnswerPart[]
  /** How the answer ended, with its model, duration and tokens. */
  end: Omit<ChatEnd, 'text' | 'conversation'>
}

/** A conversation as `GET /api/conversations` lists it. */
export interface ConversationInfo {
  id: string
  /** Its given name, or else its first question. */
  name: string
  /** Milliseconds since 1970. */
  createdAt: number
  updatedAt: number
  turns: number
}

/** A conversation with all its turns. */
export interface ConversationRecord extends Omit<ConversationInfo, 'turns'> {
  turns: ChatTurn[]
}
