import type { Attributes, Context, Span, TextMapGetter } from '@opentelemetry/api'
import { safeText } from '../logging/safe-value.ts'
import { ATTRIBUTE } from './names.ts'

/** The API of OpenTelemetry: without a registered SDK, everything in it does nothing. */
export type OpenTelemetry = typeof import('@opentelemetry/api')

export const TRACER = 'toolpost'
const MAX_MESSAGE = 200

/** Where every copy of the API keeps what is registered. Asking the API instead would cost as much as a small call. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

/** Whether anybody takes spans or measurements. */
export function hasSdk(): boolean {
  const registry = (globalThis as { [REGISTRY]?: { trace?: unknown; metrics?: unknown } })[REGISTRY]
  return registry !== undefined && (registry.trace !== undefined || registry.metrics !== undefined)
}

/** Loaded when somebody wants traces; `undefined` if it is not installed. */
export function loadOpenTelemetry(): Promise<OpenTelemetry | undefined> {
  return import('@opentelemetry/api').catch(() => undefined)
}

type Meta = Readonly<Record<string, unknown>>

/** Propagators expect text; anybody may have put something else there. */
const TEXTS: TextMapGetter<Meta> = {
  keys: meta => Object.keys(meta),
  get: (meta, key) => {
    const value = Object.hasOwn(meta, key) ? meta[key] : undefined
    return typeof value === 'string' ? value : undefined
  },
}

/** What a new span belongs to: the trace in `meta`, unless a span of that same trace is active here, which is nearer. */
export function parentOf({ context, propagation, trace }: OpenTelemetry, meta: Meta): Context {
  const active = context.active()
  const given = propagation.extract(active, meta, TEXTS)
  const here = trace.getSpan(active)
  const isSameTrace = trace.getSpanContext(given)?.traceId === here?.spanContext().traceId
  return here && isSameTrace ? trace.setSpan(given, here) : given
}

/** Lets what goes along with a call belong to the span of `inside`. */
export function putInto(
  meta: Record<string, unknown>,
  inside: Context,
  { propagation }: OpenTelemetry,
): void {
  // It would be of another trace if the one that it came with was not taken up.
  meta.tracestate = undefined
  propagation.inject(inside, meta)
}

/** Marks a span as failed. The message is one that may be shown. */
export function failSpan({ SpanStatusCode }: OpenTelemetry, span: Span, code: string, message: string): void {
  span.setAttribute(ATTRIBUTE.errorType, code)
  span.setStatus({ code: SpanStatusCode.ERROR, message: safeText(message, MAX_MESSAGE) })
}

/** Without those that are not known. */
export function attributes(given: Record<string, string | number | string[] | undefined>): Attributes {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Attributes
}
