import type { Context, Span, SpanOptions, TextMapGetter } from '@opentelemetry/api'
import { safeText } from '../logging/safe-value.ts'
import { ownValue } from '../util/guards.ts'

/*
 * The names of spans and attributes follow OpenTelemetry's semantic conventions for generative AI and MCP, which are still in
 * development: https://github.com/open-telemetry/semantic-conventions-genai
 */

/** OpenTelemetry's API: without a registered SDK, everything in it is a no-op. */
export type OpenTelemetry = typeof import('@opentelemetry/api')

export const TRACER = 'toolpost'
const MAX_MESSAGE = 200

/** Where every copy of the API keeps its registrations. Asking the API instead would cost as much as a small call. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

/** Whether anything receives spans or measurements. */
export function hasSdk(): boolean {
  const registry = (globalThis as { [REGISTRY]?: { trace?: unknown; metrics?: unknown } })[REGISTRY]
  return registry !== undefined && (registry.trace !== undefined || registry.metrics !== undefined)
}

/** Loaded when traces are wanted; `undefined` if it is not installed. */
export function loadApi(): Promise<OpenTelemetry | undefined> {
  return import('@opentelemetry/api').catch(() => undefined)
}

type Meta = Readonly<Record<string, unknown>>

/** Propagators expect strings; callers may have put anything there. */
const TEXTS: TextMapGetter<Meta> = {
  keys: meta => Object.keys(meta),
  get: (meta, key) => {
    const value = ownValue(meta, key)
    return typeof value === 'string' ? value : undefined
  },
}

/** The parent of a new span: the trace in `meta`, unless a span of the same trace is already active, which is closer. */
export function parentOf({ context, propagation, trace }: OpenTelemetry, meta: Meta): Context {
  const active = context.active()
  const given = propagation.extract(active, meta, TEXTS)
  const here = trace.getSpan(active)
  const isSameTrace = trace.getSpanContext(given)?.traceId === here?.spanContext().traceId
  return here && isSameTrace ? trace.setSpan(given, here) : given
}

/** Writes the trace context of `inside` into the metadata of a call. */
export function putInto(
  meta: Record<string, unknown>,
  inside: Context,
  { propagation }: OpenTelemetry,
): void {
  // It belongs to another trace if the incoming one was not continued.
  meta.tracestate = undefined
  propagation.inject(inside, meta)
}

/** Runs work inside a new span, which ends with it. */
export async function inSpan<T>(
  { trace, context }: OpenTelemetry,
  title: string,
  options: SpanOptions,
  parent: Context,
  work: (span: Span, inside: Context) => Promise<T>,
): Promise<T> {
  const span = trace.getTracer(TRACER).startSpan(title, options, parent)
  const inside = trace.setSpan(parent, span)
  try {
    return await context.with(inside, () => work(span, inside))
  } finally {
    span.end()
  }
}

/** Marks a span as failed. The message must be safe to show. */
export function failSpan({ SpanStatusCode }: OpenTelemetry, span: Span, code: string, message: string): void {
  span.setAttribute('error.type', code)
  span.setStatus({ code: SpanStatusCode.ERROR, message: safeText(message, MAX_MESSAGE) })
}
