/*
 * Single messages written by a model. Types only, free of LangChain's.
 */

/** How a model should write a single message. */
export interface WritingStyle {
  maxTokens: number
  temperature?: number | undefined
  stopSequences?: readonly string[] | undefined
}

export interface WritingRequest extends WritingStyle {
  messages: readonly WritingMessage[]
  timeLimitMs: number
  signal?: AbortSignal | undefined
}

export interface WritingMessage {
  role: 'system' | 'user' | 'assistant'
  content: string | readonly WritingBlock[]
}

/** A part of a message; an image is a `data:` URL. */
export type WritingBlock = { type: 'text'; text: string } | { type: 'image_url'; image_url: string }

export interface WrittenMessage {
  text: string
  /** The model that wrote it. */
  model: string
  stopReason: 'endTurn' | 'maxTokens' | 'stopSequence'
}

/** Writes single messages, without tools. */
export interface Writer {
  /** Rejects with a ModelError. */
  write(request: WritingRequest): Promise<WrittenMessage>
}
