import type { FailureCode } from '../call/failure-codes.ts'
import type { ToolFailure } from '../call/tool-result.ts'
import type { CallContext } from '../executor/context.ts'

/** The result of a call that may not run. */
export function denied(call: CallContext, reason: string): ToolFailure {
  return refusal(call, 'denied', `Tool '${call.name}' was denied: ${reason}`)
}

/** The result of a call that may not run now. */
export function limited(call: CallContext, reason: string, retryAfterMs?: number): ToolFailure {
  const answer = refusal(call, 'limited', `Tool '${call.name}' is over its limit: ${reason}`)
  return retryAfterMs === undefined ? answer : { ...answer, retry_after_ms: Math.ceil(retryAfterMs) }
}

export function refusal({ name }: { name: string }, code: FailureCode, error: string): ToolFailure {
  return { success: false, error, code, tool_name: name, execution_time_ms: 0 }
}

/** The value of an option; throws if it is not a whole number of at least `minimum`. */
export function wholeNumber(value: number, minimum: number, name: string): number {
  if (Number.isInteger(value) && value >= minimum) return value
  throw new RangeError(`${name} must be a whole number, at least ${minimum}; got ${String(value)}`)
}
