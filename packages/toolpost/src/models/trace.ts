import type { Context } from '@opentelemetry/api'
import { safeText } from '../logging/safe-value.ts'
import { failSpan, hasSdk, inSpan, loadApi, parentOf, putInto } from '../telemetry/open-telemetry.ts'
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
  const api = hasSdk() ? await loadApi() : undefined
  if (!api) return answer({})
  const model = provider.model && safeText(provider.model)

  const spanned = <Value extends { usage?: Usage | undefined; stopReason: string | undefined }>(
    operation: 'invoke_agent' | 'chat',
    parent: Context,
    work: (inside: Context) => Promise<Value>,
  ) => {
    const isTurn = operation === 'chat'
    const attributes = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': safeText(provider.name),
      'gen_ai.request.model': model,
    }
    const title = isTurn && model ? `${operation} ${model}` : operation
    const kind = isTurn ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL
    return inSpan(api, title, { kind, attributes }, parent, async (span, inside) => {
      try {
        const value = await work(inside)
        const { usage: { input, output } = {}, stopReason } = value
        span.setAttributes({
          'gen_ai.usage.input_tokens': input,
          'gen_ai.usage.output_tokens': output,
          'gen_ai.response.finish_reasons': isTurn && stopReason ? [safeText(stopReason)] : undefined,
        })
        return value
      } catch (error) {
        const { name, message } = error as Error
        failSpan(api, span, error instanceof ModelError ? error.code : name, message)
        throw error
      }
    })
  }

  return spanned('invoke_agent', parentOf(api, given ?? {}), agent => {
    const meta = { ...given }
    const span = api.trace.getSpanContext(agent)
    if (span && api.isSpanContextValid(span)) putInto(meta, agent, api)
    return answer({ meta, aroundTurn: request => spanned('chat', agent, request) })
  })
}
