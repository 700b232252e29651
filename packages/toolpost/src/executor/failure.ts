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

export const unknownTool = (name: string, suggestions: string[]) =>
  new Failure('unknown_tool', `Tool '${name}' not found`, { suggestions })

export function invalidArguments(problems: readonly string[], tool: Tool, schema: JsonSchema): Failure {
  const required = requiredArguments(schema)
  const diagnosis = { ...(required !== '' && { required }), signature: signatureOf(tool) }
  return new Failure('invalid_arguments', `Invalid parameters: ${problems.join('; ')}`, diagnosis)
}

/** Shortened, because the reason may quote the schema. */
export const invalidSchema = (name: string, reason: string) =>
  new Failure(
    'invalid_schema',
    `Tool '${name}' has an unusable schema: ${shortText(reason, MAX_REASON_CHARS)}`,
  )

export const timedOut = (name: string, afterMs: number) =>
  new Failure('timeout', `Tool '${name}' timed out after ${afterMs} ms`)

export const cancelled = (name: string) => new Failure('cancelled', `Tool '${name}' was cancelled`)

export const unavailable = (name: string, cause: string, diagnosis?: Diagnosis) =>
  new Failure('unavailable', `The ${name} service is unavailable: ${cause}`, diagnosis)

export const toolError = (message: string, diagnosis?: Diagnosis) =>
  new Failure('tool_error', message, diagnosis)

/** For values that throw when they are read. */
export const unexpected = (error: unknown) =>
  toolError(`The call failed unexpectedly: ${describeThrown(error)}`)
