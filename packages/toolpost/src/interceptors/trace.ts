import type { Attributes, Span } from '@opentelemetry/api'
import type { ToolResult } from '../call/tool-result.ts'
import type { Interceptor, Next } from '../executor/chain.ts'
import type { CallContext } from '../executor/context.ts'
import { safeText, safeValue } from '../logging/safe-value.ts'
import type { OpenTelemetry } from '../telemetry/open-telemetry.ts'
import { failSpan, hasSdk, inSpan, loadApi, parentOf, putInto, TRACER } from '../telemetry/open-telemetry.ts'
import type { ServerRequest } from '../tools/tool.ts'

export interface TraceOptions {
  /** Put the arguments on the spans, shortened and without secrets. */
  arguments?: boolean | undefined
  /** The same for results. */
  results?: boolean | undefined
}

const DURATION = 'gen_ai.execute_tool.duration'
const HISTOGRAM = {
  description: 'Duration of tool executions',
  unit: 's',
  advice: { explicitBucketBoundaries: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] },
}

/**
 * An OpenTelemetry span and duration for every call. The trace continues from `call.meta` or the active span, and is
 * passed on to the tool. Does nothing if no SDK is registered or the API is not installed.
 */
export function trace(options: TraceOptions = {}): Interceptor {
  let traced: Interceptor | undefined
  let loading: Promise<void> | undefined
  const load = async () => {
    const api = await loadApi()
    traced = api && tracing(api, options)
  }
  return function trace(call, next) {
    if (!hasSdk() || call.dryRun) return next()
    if (traced) return traced(call, next)
    loading ??= load()
    return loading.then(() => traced?.(call, next) ?? next())
  }
}

function tracing(api: OpenTelemetry, options: TraceOptions): Interceptor {
  const describe = (span: Span, call: CallContext) => {
    const { id, tool, args } = call
    const { description } = tool ?? {}
    span.setAttributes({
      'gen_ai.tool.call.id': id === undefined ? undefined : safeText(id),
      'gen_ai.tool.description': description === undefined ? undefined : safeText(description),
      'gen_ai.tool.call.arguments': options.arguments ? shown(args) : undefined,
    })
    call.onRequest = request => span.setAttributes(requestAttributes(request))
  }

  const judge = (span: Span, result: ToolResult) => {
    if (!result.success) failSpan(api, span, result.code, result.error)
    else if (options.results && span.isRecording())
      span.setAttribute('gen_ai.tool.call.result', shown(result.result))
  }

  return async (call: CallContext, next: Next) => {
    const startedAt = performance.now()
    const title = `execute_tool ${safeText(call.name)}`
    const about = { kind: api.SpanKind.INTERNAL, attributes: identityOf(call) }
    const result = await inSpan(api, title, about, parentOf(api, call.meta), async (span, inside) => {
      // Without a tracer there is no span, and `meta` is passed on unchanged.
      if (!api.isSpanContextValid(span.spanContext())) return next()
      call.notes.trace_id = span.spanContext().traceId
      putInto(call.meta, inside, api)
      if (span.isRecording()) describe(span, call)
      const made = await next()
      judge(span, made)
      return made
    })
    // Names of nonexistent tools are left out: callers can make up any number of them.
    const labels = call.tool ? identityOf(call) : { 'gen_ai.operation.name': 'execute_tool' }
    const failed = result.success ? {} : { 'error.type': result.code }
    // Unlike a tracer, a histogram does not follow the registered SDK; there, asking for it again costs little.
    const histogram = api.metrics.getMeter(TRACER).createHistogram(DURATION, HISTOGRAM)
    histogram.record((performance.now() - startedAt) / 1_000, { ...labels, ...failed })
    return result
  }
}

/** Attributes that samplers can use. */
function identityOf({ name, server }: CallContext): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': safeText(name),
    // Run here, or by a server for us.
    'gen_ai.tool.type': server === undefined ? 'function' : 'extension',
  }
}

function requestAttributes({ method, id, protocolVersion, sessionId, address }: ServerRequest): Attributes {
  return {
    'mcp.method.name': method,
    'jsonrpc.request.id': String(id),
    'mcp.protocol.version': protocolVersion,
    'mcp.session.id': sessionId,
    'network.transport': address ? 'tcp' : 'pipe',
    'server.address': address?.host,
    'server.port': address?.port,
  }
}

/** As it would appear in a log. */
function shown(value: unknown): string {
  const safe = safeValue(value)
  return typeof safe === 'string' ? safe : (JSON.stringify(safe) ?? String(safe))
}
