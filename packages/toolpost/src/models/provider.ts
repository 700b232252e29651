import type { BaseMessage } from '@langchain/core/messages'
import type { Tool } from '../tools/tool.ts'
import type { ModelStatus } from './ai-client.ts'
import type { ProviderWords } from './explain-failure.ts'
import type { ModelErrorCode } from './model-error.ts'
import type { RequestedCall } from './read-reply.ts'
import type { WritingStyle } from './writing.ts'

/** A piece of a reply: what the loop reads of LangChain's `AIMessageChunk` and `AIMessage`. */
export interface ReplyChunk {
  content: unknown
  tool_calls?: readonly LangChainCall[] | undefined
  /** Calls whose arguments LangChain could not read, as text. */
  invalid_tool_calls?: readonly LangChainCall[] | undefined
  /** The calls of a stream as they came, their arguments still text. */
  tool_call_chunks?: readonly LangChainCall[] | undefined
  usage_metadata?: { input_tokens?: number; output_tokens?: number } | undefined
  additional_kwargs?: Record<string, unknown> | undefined
  response_metadata?: Record<string, unknown> | undefined
}

export interface LangChainCall {
  /** What the pieces of one call in a stream have in common. */
  index?: number | string | undefined
  id?: string | undefined
  name?: string | undefined
  args?: unknown
}

interface Turn {
  signal: AbortSignal
  /** Whether the model may ask for calls in this turn. */
  offersTools: boolean
  /** Must not throw. */
  onStatus: (status: ModelStatus) => void
}

/** A model that is ready for one question. */
export interface OpenModel {
  /** A call of this model under the names that the executor knows; those that it was told may be others. */
  original?(call: RequestedCall): RequestedCall
  stream(messages: BaseMessage[], turn: Turn): Promise<AsyncIterable<ReplyChunk>>
}

/** Where models come from, and how they differ. */
export interface Provider extends ProviderWords {
  /** What traces call it. */
  readonly identity: { provider: string; model: string | undefined }
  /** The packages that have to be installed for it. */
  readonly packages?: readonly string[]
  /** Loads what is needed and makes the tools known to the model. */
  open(tools: readonly Tool[], style?: WritingStyle): Promise<OpenModel>
  /** Whether images in a message reach the model. */
  readonly takesImages?: boolean
  /** Failures that may pass when the request is made again. */
  readonly passing: readonly ModelErrorCode[]
}

/** What Toolpost needs of a chat model; every chat model of LangChain has it. */
export interface ChatModel extends Streaming {
  /** Takes tools in LangChain's format. (`never`, since every chat model has a type of its own for them.) */
  bindTools?(tools: never[]): Streaming
  /** What it is called, as most of them say it. */
  readonly model?: unknown
  _llmType?(): string
}

interface Streaming {
  stream(messages: BaseMessage[], options?: { signal?: AbortSignal }): Promise<AsyncIterable<ReplyChunk>>
}
