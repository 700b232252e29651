import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { CallerOptions } from '../executor/options.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import type { Tool } from '../tools/tool.ts'
import type { Usage } from './usage.ts'

/** A message without LangChain's classes; every client takes both kinds, also mixed. */
export interface PlainMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  tool_calls?: { id: string; name: string; args: Record<string, unknown>; type: 'tool_call' }[]
  tool_call_id?: string
}

/** A message of LangChain, any of its classes; described here so that these types do not need LangChain's. */
interface LangChainMessage {
  content: unknown
  id?: string | undefined
  getType(): string
}

export type ConversationMessage = LangChainMessage | PlainMessage

/** A call as it starts and as it ends. */
export type CallNotice =
  | { type: 'start'; call: ToolCall }
  | { type: 'end'; call: ToolCall; result: ToolResult; durationMs: number }

/** What becomes of a model before it says anything. */
export interface ModelStatus {
  state: 'loading' | 'loaded'
  model: string
  elapsedMs: number
}

export interface AskOptions extends CallerOptions {
  /** The tools the model may use, of those the executor has; all of them if left out. */
  tools?: readonly Tool[] | undefined
  /** How many tools a model is shown; of more it searches. 40 if left out. */
  maxTools?: number | undefined
  /** Names of tools that it is always shown, with `*` and `?`. */
  pin?: readonly string[] | undefined
  /** Keeps results that are too long for a model to be read in parts; they are cut if left out. */
  bigResults?: BigResults | undefined
  /** Runs the calls; the client's own if left out. */
  executor?: ToolExecutor | undefined
  signal?: AbortSignal | undefined
  /** Pieces of the model's text as they come. */
  onToken?: ((token: string) => void) | undefined
  onCall?: ((event: CallNotice) => void) | undefined
  /** Told every second while the model is being loaded into memory, and when that is done. */
  onStatus?: ((status: ModelStatus) => void) | undefined
  /** Spans of OpenTelemetry around the answer and every turn of the model; `trace()` makes those of the calls. */
  trace?: boolean | undefined
  /** How often the model may answer with calls before it must answer with words. */
  maxIterations?: number | undefined
  timeLimitMs?: number | undefined
}

export type StopReason = 'answer' | 'max_iterations' | 'time_limit' | 'repeated_failure'

export interface Answer {
  text: string
  /** The whole conversation, ending with this answer: hand it in with the next question. */
  messages: ConversationMessage[]
  /** What the calls gave, in their order. */
  results: ToolResult[]
  /** How often the model was asked with tools at hand. */
  iterations: number
  stopReason: StopReason
  /** Of all turns together; absent if the provider does not tell, or no model was asked. */
  usage?: Usage | undefined
}

/** Whatever answers questions with the help of tools: a model, or sentences alone. */
export interface AiClient {
  /** Rejects with a ModelError if there is no answer; never changes the messages it is given. */
  ask(prompt: string | readonly ConversationMessage[], options?: AskOptions): Promise<Answer>
}
