import type { ToolResult } from '../call/tool-result.ts'

/** Why a question got no answer. */
export const MODEL_ERROR_CODES = [
  /** The question is empty. */
  'empty_question',
  /** The caller's signal was aborted. */
  'stopped',
  /** There is no provider with that name. */
  'unknown_provider',
  /** There is no API key. */
  'missing_key',
  /** LangChain, or its package for the provider, is not installed. */
  'missing_package',
  /** Nothing answers at the address. */
  'unreachable',
  /** The provider does not have the model. */
  'model_not_found',
  /** The model cannot use tools. */
  'no_tools',
  /** The key is wrong or lacks permission. */
  'unauthorized',
  /** Too many requests, even after waiting as long as the time limit allows. */
  'rate_limited',
  /** The provider is overloaded, even after waiting. */
  'overloaded',
  /** The provider rejected the request. */
  'rejected',
  /** The provider failed. */
  'server_error',
  /** The answer broke off or reached the model's token limit. */
  'truncated',
  /** The response could not be read. */
  'invalid_response',
] as const

export type ModelErrorCode = (typeof MODEL_ERROR_CODES)[number]

/** The model gave no answer. The message says what to do and never contains a key. */
export class ModelError extends Error {
  override name = 'ModelError'
  readonly code: ModelErrorCode
  /** How long the provider asked us to wait, if it did. */
  readonly retryAfterMs: number | undefined
  /** Results of the calls made before the failure; their effects remain. */
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
