import type { Attributes, Context } from '@opentelemetry/api'
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
import type { Answer, AskOptions, Usage } from './ai-client.ts'
import type { Provider } from './model-client.ts'
import { ModelError } from './model-error.ts'
import type { LoopOptions } from './tool-loop.ts'

type Traced = Pick<LoopOptions, 'meta' | 'aroundTurn'>

/** Answers inside an `invoke_agent` span, the parent of the model's turns and the calls. */
export async function tracedAnswer(
  { provider, model }: Provider['identity'],
  given: AskOptions['meta'],
  answer: (traced: Traced) => Promise<Answer>,
): Promise<Answer> {
  const api = hasSdk() ? await loadOpenTelemetry() : undefined
  if (!api) return answer({})
  const { trace, context, SpanKind, isSpanContextValid } = api
  const name = model && safeText(model)
  const shared = { [ATTRIBUTE.provider]: safeText(provider), [ATTRIBUTE.requestModel]: name }
  const tracer = trace.getTracer(TRACER)

  async function inSpan<Value>(
    [operation, title, kind]: [operation: string, title: string, kind: number],
    parent: Context,
    work: (inside: Context) => Promise<Value>,
    describe: (value: Value) => Attributes,
  ): Promise<Value> {
    const given = attributes({ [ATTRIBUTE.operation]: operation, ...shared })
    const span = tracer.startSpan(title, { kind, attributes: given }, parent)
    const inside = trace.setSpan(parent, span)
    try {
      const value = await context.with(inside, () => work(inside))
      span.setAttributes(describe(value))
      return value
    } catch (error) {
      const { name: type, message } = error as Error
      if (api) failSpan(api, span, error instanceof ModelError ? error.code : type, message)
      throw error
    } finally {
      span.end()
    }
  }

  const { invokeAgent, chat } = OPERATION
  const answered = (agent: Context) => {
    const meta = { ...given }
    const span = trace.getSpanContext(agent)
    if (span && isSpanContextValid(span)) putInto(meta, agent, api)
    const aroundTurn: Traced['aroundTurn'] = request =>
      inSpan(
        [chat, name ? `${chat} ${name}` : chat, SpanKind.CLIENT],
        agent,
        request,
        ({ usage, stopReason }) => ({
          ...tokens(usage),
          ...attributes({ [ATTRIBUTE.finishReasons]: stopReason && [safeText(stopReason)] }),
        }),
      )
    return answer({ meta, aroundTurn })
  }
  const parent = parentOf(api, given ?? {})
  const top: [string, string, number] = [invokeAgent, invokeAgent, SpanKind.INTERNAL]
  return inSpan(top, parent, answered, ({ usage = {} }) => tokens(usage))
}

function tokens({ input, output }: Usage): Attributes {
  return attributes({ [ATTRIBUTE.inputTokens]: input, [ATTRIBUTE.outputTokens]: output })
}
