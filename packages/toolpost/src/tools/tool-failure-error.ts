import type { FailureCode } from '../call/failure-codes.ts'
import type { Diagnosis } from '../call/tool-result.ts'

export interface ToolFailureOptions {
  diagnosis?: Diagnosis
  retryAfterMs?: number | undefined
  cause?: unknown
}

/** Thrown by a tool that knows what its failure means for the call: `error` and `code` of the result are these. */
export class ToolFailureError extends Error {
  override name = 'ToolFailureError'
  readonly code: FailureCode
  readonly diagnosis: Diagnosis | undefined
  /** When to try again, if that is known. */
  readonly retryAfterMs: number | undefined

  constructor(code: FailureCode, message: string, options: ToolFailureOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.diagnosis = options.diagnosis
    this.retryAfterMs = options.retryAfterMs
  }
}
