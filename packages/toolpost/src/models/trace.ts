import type { Context } from '@opentelemetry/api'
import { safeText } from '../logging/safe-value.ts'
import { ATTRIBUTE, OPERATION } from '../telemetry/names.ts'
import {
  attributes,
  failSpan,
  hasSdk,
  loadOpenTelemetry,
  parentOf,
  putInto,
  TRACER,
} from '../telemetry/open-telemetry.ts'
import type { Answer, Usage } from './ai-client.ts'
import type { Provider } from './model-client.ts'
import { ModelError } from './model-error.ts'
import type { LoopOptions } from './tool-loop.ts'

/** Answers inside an `invoke_agent` span, the parent of the model's turns and the calls. */
export async function tracedAnswer(
  provider: Provider,
  given: LoopOptions['meta'],
  answer: (traced: Pick<LoopOptions, 'meta' | 'aroundTurn'>) => Promise<Answer>,
): Promise<Answer> {
  const api = hasSdk() ? await loadOpenTelemetry() : undefined
  if (!api) return answer({})
  const { trace, context, SpanKind, isSpanContextValid } = api
  const model = provider.model && safeText(provider.model)

  async function inSpan<Value extends { usage?: Usage | undefined; stopReason: string | undefined }>(
    operation: 'invoke_agent' | 'chat',
    parent: Context,
    work: (inside: Context) => Promise<Value>,
  ): Promise<Value> {
    const isTurn = operation === OPERATION.chat
    const asked = { [ATTRIBUTE.provider]: safeText(provider.name), [ATTRIBUTE.requestModel]: model }
    const about = { [ATTRIBUTE.operation]: operation, ...asked }
    const kind = isTurn ? SpanKind.CLIENT : SpanKind.INTERNAL
    const title = isTurn && model ? `${operation} ${model}` : operation
    const span = trace.getTracer(TRACER).startSpan(title, { kind, attributes: attributes(about) }, parent)
    const inside = trace.setSpan(parent, span)
    try {
      const value = await context.with(inside, () => work(inside))
      const { usage: { input, output } = {}, stopReason } = value
      const reasons = isTurn && stopReason ? [safeText(stopReason)] : undefined
      const tokens = { [ATTRIBUTE.inputTokens]: input, [ATTRIBUTE.outputTokens]: output }
      span.setAttributes(attributes({ ...tokens, [ATTRIBUTE.finishReasons]: reasons }))
      return value
    } catch (error) {
      const { name, message } = error as Error
      if (api) failSpan(api, span, error instanceof ModelError ? error.code : name, message)
      throw error
    } finally {
      span.end()
    }
  }

  return inSpan(OPERATION.invokeAgent, parentOf(api, given ?? {}), agent => {
    const meta = { ...given }
    const span = trace.getSpanContext(agent)
    if (span && isSpanContextValid(span)) putInto(meta, agent, api)
    return answer({ meta, aroundTurn: request => inSpan(OPERATION.chat, agent, request) })
  })
}
