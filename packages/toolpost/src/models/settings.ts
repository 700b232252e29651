/*
 * Types that other folders use. Free of LangChain's, which do not compile in a strict project that checks its libraries.
 */

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

interface WritingMessage {
  role: 'system' | 'user' | 'assistant'
  content: string | readonly WritingBlock[]
}

/** A part of a message; an image is a `data:` URL. */
type WritingBlock = { type: 'text'; text: string } | { type: 'image_url'; image_url: string }

export interface WrittenMessage {
  text: string
  model: string
  stopReason: 'endTurn' | 'maxTokens' | 'stopSequence'
}

/** Writes single messages, without tools. */
export interface Writer {
  /** Rejects with a ModelError. */
  write(request: WritingRequest): Promise<WrittenMessage>
}
