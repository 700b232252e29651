import type { ToolCall } from '../call/tool-call.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { CallerOptions } from '../executor/options.ts'
import type { BigResults } from '../interceptors/long-results.ts'
import type { Tool } from '../tools/tool.ts'

/** A message without LangChain's classes; clients accept both kinds, even mixed. */
export interface PlainMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  tool_calls?: { id: string; name: string; args: Record<string, unknown>; type: 'tool_call' }[]
  tool_call_id?: string
  /** What `toolpost-sentences` remembers of the conversation after this answer. */
  dialogue?: unknown
}

/** Any LangChain message class; declared here so that these types do not depend on LangChain. */
interface LangChainMessage {
  content: unknown
  id?: string | undefined
  getType(): string
}

export type ConversationMessage = LangChainMessage | PlainMessage

/** A question, or a conversation that ends with one. */
export type Prompt = string | readonly ConversationMessage[]

export type CallNotice =
  | { type: 'start'; call: ToolCall }
  | { type: 'end'; call: ToolCall; result: ToolResult; durationMs: number }

/** What a model is doing before its first token. */
export interface ModelStatus {
  state: 'loading' | 'loaded'
  model: string
  elapsedMs: number
}

export interface AskOptions extends CallerOptions {
  /** The tools the model may use, a subset of the executor's; all of them if left out. */
  tools?: readonly Tool[] | undefined
  /** How many tools the model is shown; if there are more, it searches. 40 if left out. */
  maxTools?: number | undefined
  /** Tools it is always shown: names with `*` and `?`. */
  pin?: readonly string[] | undefined
  /** Keeps results too long for the model, to be read in parts; if left out, they are truncated. */
  bigResults?: BigResults | undefined
  /** Runs the calls; the client's own if left out. */
  executor?: ToolExecutor | undefined
  signal?: AbortSignal | undefined
  /** Receives the model's text piece by piece. */
  onToken?: ((token: string) => void) | undefined
  onCall?: ((event: CallNotice) => void) | undefined
  /** Called every second while the model is being loaded into memory, and once it is loaded. */
  onStatus?: ((status: ModelStatus) => void) | undefined
  /** The room the question comes from, for sentences such as "turn on the lights in here". */
  area?: string | undefined
  /** What `OfflineClient.understand` returned for the question; it is not understood again. */
  meaning?: object | undefined
  /** OpenTelemetry spans around the answer and every model turn; `trace()` makes those of the calls. */
  trace?: boolean | undefined
  /** How many times the model may reply with calls before it has to answer. */
  maxIterations?: number | undefined
  timeLimitMs?: number | undefined
}

/** In tokens, as far as the provider reports them. */
export interface Usage {
  input?: number | undefined
  output?: number | undefined
}

export type StopReason = 'answer' | 'max_iterations' | 'time_limit' | 'repeated_failure'

export interface Answer {
  text: string
  /** The whole conversation, ending with this answer: pass it with the next question. */
  messages: ConversationMessage[]
  results: ToolResult[]
  /** How many times the model was asked with tools on offer. */
  iterations: number
  stopReason: StopReason
  /** Summed over all turns; absent if the provider does not report it or no model was asked. */
  usage?: Usage | undefined
  /** Every time a model was asked: how long it took, and its tokens. */
  modelCalls?: readonly (Usage & { duration_ms: number })[] | undefined
}

/** Anything that answers questions with tools: a model, or sentence templates alone. */
export interface AiClient {
  /** Rejects with a ModelError if there is no answer; never changes the messages it is given. */
  ask(prompt: Prompt, options?: AskOptions): Promise<Answer>
}

/** A single message to be written, without tools. */
export interface WritingRequest {
  messages: readonly PlainMessage[]
  maxTokens: number
  temperature?: number
  stopSequences?: string[]
  timeLimitMs: number
  signal?: AbortSignal | undefined
}

export interface Writer {
  /** Rejects with a ModelError. */
  write(request: WritingRequest): Promise<{
    text: string
    model: string
    stopReason: 'endTurn' | 'maxTokens' | 'stopSequence'
  }>
}

/** How models on Ollama run. */
export interface OllamaSettings {
  /** Whether a model thinks before it answers: for all models, or by name (`*` for any characters). */
  think?: boolean | Readonly<Record<string, boolean>> | undefined
  /** How long a model stays in memory after its last answer: `30m`, or seconds; -1 for forever. */
  keepAlive?: string | number | undefined
  /** The largest context to request, in tokens. */
  maxContext?: number | undefined
}

/** Where an OpenAI-compatible API is, as in `models.openai`. */
export interface OpenAiSettings {
  /** With its `/v1`; `OPENAI_BASE_URL` if left out, else OpenAI's. */
  baseUrl?: string | undefined
  /** `OPENAI_API_KEY` if left out. Servers on this machine need none. */
  apiKey?: string | undefined
  /** Whether the model takes images; if left out, only OpenAI's own do. */
  images?: boolean | undefined
}

const REASONS: Record<Exclude<StopReason, 'answer'>, string> = {
  max_iterations: 'the model asked for too many rounds of calls',
  time_limit: 'it took too long',
  repeated_failure: 'the same call kept failing',
}

/** Why there is no real answer, in a few words; `undefined` if there is one. */
export function whyUnanswered({ text, results, iterations, stopReason }: Answer): string | undefined {
  if (stopReason !== 'answer') return REASONS[stopReason]
  if (text.trim() === '') return 'the model gave no answer'
  if (iterations === 0) return 'it was not understood'
  const [failure] = results.flatMap(result => (result.success ? [] : [result.error]))
  return failure !== undefined && results.every(result => !result.success) ? failure : undefined
}
