import type { FailureCode } from '../call/failure-codes.ts'
import type { Diagnosis } from '../call/tool-result.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { requiredArguments, signatureOf } from '../schema/signature.ts'
import type { Tool } from '../tools/tool.ts'
import { describeThrown } from '../util/quietly.ts'
import { shortText } from '../util/text.ts'

const MAX_REASON_CHARS = 500

/** Why a stage stopped a call. Passed on as a value; no stage throws. */
export class Failure {
  readonly code: FailureCode
  readonly error: string
  readonly diagnosis: Diagnosis | undefined
  /** When to retry, if known. */
  readonly retryAfterMs: number | undefined

  constructor(code: FailureCode, error: string, diagnosis?: Diagnosis, retryAfterMs?: number) {
    this.code = code
    this.error = error
    this.diagnosis = diagnosis
    this.retryAfterMs = retryAfterMs
  }
}

export function unknownTool(name: string, suggestions: string[]): Failure {
  return new Failure('unknown_tool', `Tool '${name}' not found`, { suggestions })
}

export function invalidArguments(problems: readonly string[], tool: Tool, schema: JsonSchema): Failure {
  const required = requiredArguments(schema)
  return new Failure('invalid_arguments', `Invalid parameters: ${problems.join('; ')}`, {
    ...(required !== '' && { required }),
    signature: signatureOf(tool),
  })
}

/** Shortened, because the reason may quote the schema. */
export function invalidSchema(name: string, reason: string): Failure {
  const shown = shortText(reason, MAX_REASON_CHARS)
  return new Failure('invalid_schema', `Tool '${name}' has an unusable schema: ${shown}`)
}

export function timedOut(name: string, afterMs: number): Failure {
  return new Failure('timeout', `Tool '${name}' timed out after ${afterMs} ms`)
}

export function cancelled(name: string): Failure {
  return new Failure('cancelled', `Tool '${name}' was cancelled`)
}

export function unavailable(name: string, cause: string, diagnosis?: Diagnosis): Failure {
  return new Failure('unavailable', `The ${name} service is unavailable: ${cause}`, diagnosis)
}

export function toolError(message: string, diagnosis?: Diagnosis): Failure {
  return new Failure('tool_error', message, diagnosis)
}

/** For values that throw when they are read. */
export function unexpected(error: unknown): Failure {
  return toolError(`The call failed unexpectedly: ${describeThrown(error)}`)
}
