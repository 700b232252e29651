import type { BaseMessage } from '@langchain/core/messages'
import type { Tool } from '../tools/tool.ts'
import type { ModelStatus } from './ai-client.ts'
import type { ProviderWords } from './explain-failure.ts'
import type { ModelErrorCode } from './model-error.ts'
import type { RequestedCall } from './read-reply.ts'
import type { WritingStyle } from './writing.ts'

/** A piece of a reply: the fields of LangChain's `AIMessageChunk` and `AIMessage` that the loop reads. */
export interface ReplyChunk {
  content: unknown
  tool_calls?: readonly LangChainCall[] | undefined
  /** Calls whose arguments LangChain could not parse, as text. */
  invalid_tool_calls?: readonly LangChainCall[] | undefined
  /** The calls of a stream as they arrived, with their arguments still as text. */
  tool_call_chunks?: readonly LangChainCall[] | undefined
  usage_metadata?: { input_tokens?: number; output_tokens?: number } | undefined
  additional_kwargs?: Record<string, unknown> | undefined
  response_metadata?: Record<string, unknown> | undefined
}

export interface LangChainCall {
  /** Shared by all pieces of one call in a stream. */
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

/** A model ready for one question. */
export interface OpenModel {
  /** Translates a call to the executor's names, which may differ from those the model was given. */
  original?(call: RequestedCall): RequestedCall
  stream(messages: BaseMessage[], turn: Turn): Promise<AsyncIterable<ReplyChunk>>
}

/** A source of models, and how it differs from others. */
export interface Provider extends ProviderWords {
  /** Its name in traces. */
  readonly identity: { provider: string; model: string | undefined }
  /** The packages it needs installed. */
  readonly packages?: readonly string[]
  /** Loads what is needed and binds the tools to the model. */
  open(tools: readonly Tool[], style?: WritingStyle): Promise<OpenModel>
  /** Whether images in a message reach the model. */
  readonly takesImages?: boolean
  /** Failures worth a retry. */
  readonly passing: readonly ModelErrorCode[]
}

/** What Toolpost needs from a chat model; every LangChain chat model has it. */
export interface ChatModel extends Streaming {
  /** Accepts tools in LangChain's format. (`never`, since every chat model types them differently.) */
  bindTools?(tools: never[]): Streaming
  /** The model's name, under the property most of them use. */
  readonly model?: unknown
  _llmType?(): string
}

interface Streaming {
  stream(messages: BaseMessage[], options?: { signal?: AbortSignal }): Promise<AsyncIterable<ReplyChunk>>
}
