import type { ToolResult } from '../call/tool-result.ts'

/** Why a question got no answer. */
export const MODEL_ERROR_CODES = [
  /** The question is empty. */
  'empty_question',
  /** The caller's signal was aborted. */
  'stopped',
  /** No provider goes by that name. */
  'unknown_provider',
  /** There is no API key. */
  'missing_key',
  /** LangChain, or its part for the provider, is not installed. */
  'missing_package',
  /** Nothing answers at the address. */
  'unreachable',
  /** The provider does not have the model. */
  'model_not_found',
  /** The model, or the chat model that was handed in, cannot use tools. */
  'no_tools',
  /** The key is wrong or may not do this. */
  'unauthorized',
  /** Too many requests, also after waiting as long as the time limit allows. */
  'rate_limited',
  /** The provider has too much to do, also after waiting. */
  'overloaded',
  /** The provider refuses the request itself. */
  'rejected',
  /** The provider failed. */
  'server_error',
  /** The answer broke off, or reached the model's token limit. */
  'truncated',
  /** What came back cannot be understood. */
  'invalid_response',
] as const

export type ModelErrorCode = (typeof MODEL_ERROR_CODES)[number]

/** A model that gave no answer. The message says what to do, and never contains a key. */
export class ModelError extends Error {
  override name = 'ModelError'
  readonly code: ModelErrorCode
  /** How long the provider wants to be left alone, if it says so. */
  readonly retryAfterMs: number | undefined
  /** The calls that had been made before it went wrong: what they did is done. */
  results: readonly ToolResult[] = []

  constructor(
    code: ModelErrorCode,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.retryAfterMs = options.retryAfterMs
  }
}
