import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { CallContext } from '../executor/context.ts'
import { failureResult } from '../executor/result.ts'

/** The result of a call that may not run. */
export function denied(call: CallContext, reason: string): ToolResult {
  return refusal(call, 'denied', `Tool '${call.name}' was denied: ${reason}`)
}

/** The result of a call that may not run now. */
export function limited(call: CallContext, reason: string, retryAfterMs?: number): ToolResult {
  const error = `Tool '${call.name}' is over its limit: ${reason}`
  return failureResult({ code: 'limited', error, retryAfterMs }, call)
}

export function refusal(call: CallContext, code: FailureCode, error: string): ToolResult {
  return failureResult({ code, error }, call)
}

/** The value of an option; throws if it is not a whole number of at least `minimum`. */
export function wholeNumber(value: number, minimum: number, name: string): number {
  if (Number.isInteger(value) && value >= minimum) return value
  throw new RangeError(`${name} must be a whole number, at least ${minimum}; got ${String(value)}`)
}
