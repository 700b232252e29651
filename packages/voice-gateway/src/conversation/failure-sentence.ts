import type { ModelError, ModelErrorCode } from 'toolpost/models'
import { TranscriberError } from '../speech-to-text/transcriber.ts'

const MODEL_FAILURES: Partial<Record<ModelErrorCode, string>> = {
  unreachable: 'I cannot reach the language model.',
  model_not_found: 'The language model is not installed.',
  no_tools: 'The language model cannot use tools.',
  missing_key: 'I have no key for the language model.',
  unauthorized: 'The language model does not accept my key.',
  rate_limited: 'The language model is too busy right now.',
  overloaded: 'The language model is too busy right now.',
}

/** What the person hears if there is no answer: one plain sentence. The log has the details. */
export function failureSentence(error: unknown): string {
  if (error instanceof TranscriberError) return 'Sorry, I could not make out what you said.'
  if (!isModelError(error)) return 'Sorry, something went wrong on my side.'
  const sentence = MODEL_FAILURES[error.code] ?? 'The language model gave no usable answer.'
  return error.results?.some(result => result.success) ? `I did part of it. ${sentence}` : sentence
}

/** By name: the host program may have its own copy of Toolpost. */
function isModelError(error: unknown): error is ModelError {
  return error instanceof Error && error.name === 'ModelError'
}
