import type { BaseMessage } from '@langchain/core/messages'
import type { ReplyChunk } from './provider.ts'

/** What Toolpost needs of a chat model; every chat model of LangChain has it. */
export interface ChatModel extends Streaming {
  /** Takes tools in LangChain's format. (`never`, since every chat model has a type of its own for them.) */
  bindTools?(tools: never[]): Streaming
}

interface Streaming {
  stream(messages: BaseMessage[], options?: { signal?: AbortSignal }): Promise<AsyncIterable<ReplyChunk>>
}
