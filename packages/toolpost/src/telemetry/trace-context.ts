/*
 * The trace a call belongs to, in the format of W3C Trace Context and Baggage: in the headers of a request, and under
 * the same names in `_meta` of an MCP call.
 */

/** Later versions than 00 may append to its format. */
const TRACE_PARENT =
  /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[\x20-\x7e]{0,144})?$/
/** `key=value,key=value` */
const LIST = /^(?=[^=]*=)[\x20-\x7e]+$/
const MAX_STATE = 512
const MAX_BAGGAGE = 8_192

export const TRACE_KEYS: readonly string[] = ['traceparent', 'tracestate', 'baggage']

/** The trace context that `read` provides. Malformed parts are left out; `undefined` if nothing is left. */
export function traceContext(read: (key: string) => unknown): Record<string, string> | undefined {
  const found: Record<string, string> = {}
  const take = (key: string, pattern: RegExp, maxLength: number) => {
    const value = read(key)
    if (typeof value === 'string' && value.length <= maxLength && pattern.test(value)) found[key] = value
  }
  take('traceparent', TRACE_PARENT, 200)
  // Meaningless without a valid parent.
  if (found.traceparent) take('tracestate', LIST, MAX_STATE)
  take('baggage', LIST, MAX_BAGGAGE)
  return Object.keys(found).length > 0 ? found : undefined
}
