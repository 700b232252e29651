import type { FailureCode } from '../call/failure-codes.ts'
import type { Diagnosis } from '../call/tool-result.ts'

/** Thrown by a tool that knows what its failure means for the call: `error` and `code` of the result are these. */
export class ToolFailureError extends Error {
  override name = 'ToolFailureError'
  readonly code: FailureCode
  readonly diagnosis: Diagnosis | undefined

  constructor(code: FailureCode, message: string, options: { diagnosis?: Diagnosis; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.diagnosis = options.diagnosis
  }
}
