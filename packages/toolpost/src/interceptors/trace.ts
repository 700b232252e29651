import type { Attributes, Context, Histogram, MeterProvider, Span, Tracer } from '@opentelemetry/api'
import type { ToolResult } from '../call/tool-result.ts'
import type { Interceptor, Next } from '../executor/chain.ts'
import type { CallContext } from '../executor/context.ts'
import { safeText, safeValue } from '../logging/safe-value.ts'
import { ATTRIBUTE, METRIC, OPERATION, TOOL_TYPE } from '../telemetry/names.ts'
import {
  attributes,
  failSpan,
  hasSdk,
  loadOpenTelemetry,
  type OpenTelemetry,
  parentOf,
  putInto,
  TRACER,
} from '../telemetry/open-telemetry.ts'
import type { ServerRequest } from '../tools/tool.ts'

export interface TraceOptions {
  /** Put the arguments on the spans, shortened and without secrets. */
  arguments?: boolean | undefined
  /** The same for results. */
  results?: boolean | undefined
  /** `@opentelemetry/api`, if it cannot be found by that name. */
  api?: object | undefined
}

/**
 * An OpenTelemetry span and duration for every call. The trace continues from `call.meta` or the active span, and is
 * passed on to the tool. Does nothing if no SDK is registered or the API is not installed.
 */
export function trace(options: TraceOptions = {}): Interceptor {
  const begin = (api: OpenTelemetry | undefined) => api && new Tracing(api, options)
  let tracing = begin(options.api as OpenTelemetry | undefined)
  let loading: Promise<Tracing | undefined> | undefined
  const load = async () => {
    loading ??= loadOpenTelemetry().then(begin)
    tracing = await loading
    return tracing
  }
  return function trace(call, next) {
    if (!hasSdk() || call.dryRun) return next()
    return tracing ? tracing.around(call, next) : load().then(loaded => loaded?.around(call, next) ?? next())
  }
}

interface TracedCall {
  call: CallContext
  span: Span
  /** The context that the tool runs in. */
  inside: Context
}

class Tracing {
  readonly #api: OpenTelemetry
  readonly #options: TraceOptions
  readonly #tracer: Tracer
  #meters: MeterProvider | undefined
  #durations: Histogram | undefined

  constructor(api: OpenTelemetry, options: TraceOptions) {
    this.#api = api
    this.#options = options
    this.#tracer = api.trace.getTracer(TRACER)
  }

  async around(call: CallContext, next: Next): Promise<ToolResult> {
    const { trace, isSpanContextValid } = this.#api
    const startedAt = performance.now()
    const parent = parentOf(this.#api, call.meta)
    const span = this.#begin(call, parent)
    // Without a tracer there is no span, and `meta` is passed on unchanged.
    const isTraced = isSpanContextValid(span.spanContext())
    const result = await (isTraced
      ? this.#within({ call, span, inside: trace.setSpan(parent, span) }, next)
      : next())
    this.#measure(call, result, (performance.now() - startedAt) / 1_000)
    return result
  }

  #begin(call: CallContext, parent: Context): Span {
    const kind = this.#api.SpanKind.INTERNAL
    const name = `${OPERATION.executeTool} ${safeText(call.name)}`
    return this.#tracer.startSpan(name, { kind, attributes: identityOf(call) }, parent)
  }

  async #within({ call, span, inside }: TracedCall, next: Next): Promise<ToolResult> {
    call.notes.trace_id = span.spanContext().traceId
    putInto(call.meta, inside, this.#api)
    if (span.isRecording()) this.#describe(span, call)
    try {
      const result = await this.#api.context.with(inside, next)
      this.#judge(span, result)
      return result
    } finally {
      span.end()
    }
  }

  #describe(span: Span, call: CallContext): void {
    const { id, tool, args } = call
    const { description } = tool ?? {}
    span.setAttributes(
      attributes({
        [ATTRIBUTE.toolCallId]: id === undefined ? undefined : safeText(id),
        [ATTRIBUTE.toolDescription]: description === undefined ? undefined : safeText(description),
        [ATTRIBUTE.toolArguments]: this.#options.arguments ? shown(args) : undefined,
      }),
    )
    call.onRequest = request => span.setAttributes(requestAttributes(request))
  }

  #judge(span: Span, result: ToolResult): void {
    if (!result.success) failSpan(this.#api, span, result.code, result.error)
    else if (this.#options.results && span.isRecording())
      span.setAttribute(ATTRIBUTE.toolResult, shown(result.result))
  }

  /** Names of nonexistent tools are left out: callers can make up any number of them. */
  #measure(call: CallContext, result: ToolResult, seconds: number): void {
    const labels = call.tool ? identityOf(call) : { [ATTRIBUTE.operation]: OPERATION.executeTool }
    if (!result.success) labels[ATTRIBUTE.errorType] = result.code
    this.#histogram().record(seconds, labels)
  }

  /** From the currently registered SDK: unlike a tracer, a histogram does not follow it. */
  #histogram(): Histogram {
    const meters = this.#api.metrics.getMeterProvider()
    if (!this.#durations || meters !== this.#meters) {
      const { name, description, unit, buckets } = METRIC.toolDuration
      const advice = { explicitBucketBoundaries: [...buckets] }
      this.#durations = meters.getMeter(TRACER).createHistogram(name, { description, unit, advice })
      this.#meters = meters
    }
    return this.#durations
  }
}

/** Attributes that samplers can use. */
function identityOf({ name, server }: CallContext): Attributes {
  return {
    [ATTRIBUTE.operation]: OPERATION.executeTool,
    [ATTRIBUTE.toolName]: safeText(name),
    [ATTRIBUTE.toolType]: server === undefined ? TOOL_TYPE.local : TOOL_TYPE.mcp,
  }
}

function requestAttributes({ method, id, protocolVersion, sessionId, address }: ServerRequest): Attributes {
  return attributes({
    [ATTRIBUTE.mcpMethod]: method,
    [ATTRIBUTE.requestId]: String(id),
    [ATTRIBUTE.mcpProtocolVersion]: protocolVersion,
    [ATTRIBUTE.mcpSessionId]: sessionId,
    [ATTRIBUTE.transport]: address ? 'tcp' : 'pipe',
    [ATTRIBUTE.serverAddress]: address?.host,
    [ATTRIBUTE.serverPort]: address?.port,
  })
}

/** As it would appear in a log. */
function shown(value: unknown): string {
  const safe = safeValue(value)
  return typeof safe === 'string' ? safe : (JSON.stringify(safe) ?? String(safe))
}
