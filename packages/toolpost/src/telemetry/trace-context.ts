/*
 * The trace a call belongs to, in the format of W3C Trace Context and Baggage: in the headers of a request, and under
 * the same names in `_meta` of an MCP call.
 */

const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/
const PARENT_LENGTH = 55
const PRINTABLE = /^[\x20-\x7e]+$/
const MAX_PARENT = 200
const MAX_STATE = 512
const MAX_BAGGAGE = 8_192

export const TRACE_KEYS: readonly string[] = ['traceparent', 'tracestate', 'baggage']

export interface TraceContext {
  traceparent?: string
  tracestate?: string
  baggage?: string
}

/** The trace context that `read` provides. Malformed parts are left out; `undefined` if nothing is left. */
export function traceContext(read: (key: string) => unknown): TraceContext | undefined {
  const traceparent = read('traceparent')
  const baggage = read('baggage')
  const found: TraceContext = {}
  if (isTraceParent(traceparent)) {
    found.traceparent = traceparent
    // Meaningless without a valid parent.
    const tracestate = read('tracestate')
    if (isList(tracestate, MAX_STATE)) found.tracestate = tracestate
  }
  if (isList(baggage, MAX_BAGGAGE)) found.baggage = baggage
  return found.traceparent === undefined && found.baggage === undefined ? undefined : found
}

/** Later versions may append to the format of version 00. */
function isTraceParent(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_PARENT || !TRACE_PARENT.test(value)) return false
  return value.length === PARENT_LENGTH || (!value.startsWith('00') && PRINTABLE.test(value))
}

/** `key=value,key=value` */
function isList(value: unknown, maxLength: number): value is string {
  if (typeof value !== 'string' || value.length > maxLength) return false
  return value.includes('=') && PRINTABLE.test(value)
}
