import type { FailureCode } from '../call/failure-codes.ts'
import type { Diagnosis } from '../call/tool-result.ts'

export interface ToolFailureOptions {
  diagnosis?: Diagnosis
  retryAfterMs?: number | undefined
  cause?: unknown
}

/** Thrown by a tool that knows what its failure means for the call: sets the result's `error` and `code`. */
export class ToolFailureError extends Error {
  override name = 'ToolFailureError'
  readonly code: FailureCode
  readonly diagnosis: Diagnosis | undefined
  /** When to retry, if known. */
  readonly retryAfterMs: number | undefined

  constructor(code: FailureCode, message: string, options: ToolFailureOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.diagnosis = options.diagnosis
    this.retryAfterMs = options.retryAfterMs
  }
}
