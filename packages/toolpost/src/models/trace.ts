import type { Attributes, Context, Span } from '@opentelemetry/api'
import { safeText } from '../logging/safe-value.ts'
import { ATTRIBUTE, OPERATION } from '../telemetry/names.ts'
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
import type { Answer, AskOptions } from './ai-client.ts'
import { ModelError } from './model-error.ts'
import type { Provider } from './provider.ts'
import type { Reply } from './read-reply.ts'
import type { AroundTurn } from './tool-loop.ts'
import { sumOfUsage } from './usage.ts'

/** Extra options for a traced loop. */
interface TracedLoop {
  meta: AskOptions['meta']
  aroundTurn: AroundTurn
}

/** Answers inside an `invoke_agent` span, the parent of the model's turns and the calls. */
export async function tracedAnswer(
  { identity }: Provider,
  { meta }: AskOptions,
  answer: (traced?: TracedLoop) => Promise<Answer>,
): Promise<Answer> {
  const api = hasSdk() ? await loadOpenTelemetry() : undefined
  return api ? new AgentTrace(api, identity).answer(meta, answer) : answer()
}

class AgentTrace {
  readonly #api: OpenTelemetry
  readonly #model: string | undefined
  readonly #shared: Attributes
  #used: Reply['usage'] = {}

  constructor(api: OpenTelemetry, { provider, model }: Provider['identity']) {
    this.#api = api
    this.#model = model && safeText(model)
    this.#shared = attributes({
      [ATTRIBUTE.provider]: safeText(provider),
      [ATTRIBUTE.requestModel]: this.#model,
    })
  }

  answer(given: AskOptions['meta'], answer: (traced: TracedLoop) => Promise<Answer>): Promise<Answer> {
    const { trace, SpanKind, isSpanContextValid } = this.#api
    const parent = parentOf(this.#api, given ?? {})
    const span = this.#begin(OPERATION.invokeAgent, { kind: SpanKind.INTERNAL, parent })
    const agent = trace.setSpan(parent, span)
    const meta = { ...given }
    if (isSpanContextValid(span.spanContext())) putInto(meta, agent, this.#api)
    const aroundTurn: AroundTurn = request => this.#turn(agent, request)
    return this.#within(span, agent, async () => {
      try {
        return await answer({ meta, aroundTurn })
      } finally {
        span.setAttributes(usage(this.#used))
      }
    })
  }

  /** One request to the model. */
  #turn(parent: Context, request: () => Promise<Reply>): Promise<Reply> {
    const { trace, SpanKind } = this.#api
    const span = this.#begin(OPERATION.chat, { kind: SpanKind.CLIENT, parent, target: this.#model })
    return this.#within(span, trace.setSpan(parent, span), async () => {
      const reply = await request()
      this.#used = sumOfUsage(this.#used, reply.usage)
      const reasons = reply.stopReason === undefined ? undefined : [safeText(reply.stopReason)]
      span.setAttributes({ ...usage(reply.usage), ...attributes({ [ATTRIBUTE.finishReasons]: reasons }) })
      return reply
    })
  }

  #begin(operation: string, { kind, parent, target }: SpanSetup): Span {
    const name = target ? `${operation} ${target}` : operation
    const given = { [ATTRIBUTE.operation]: operation, ...this.#shared }
    return this.#api.trace.getTracer(TRACER).startSpan(name, { kind, attributes: given }, parent)
  }

  async #within<T>(span: Span, inside: Context, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#api.context.with(inside, work)
    } catch (error) {
      const { name, message } = error as Error
      failSpan(this.#api, span, error instanceof ModelError ? error.code : name, message)
      throw error
    } finally {
      span.end()
    }
  }
}

interface SpanSetup {
  kind: number
  parent: Context
  target?: string | undefined
}

function usage({ input, output }: Reply['usage']): Attributes {
  return attributes({ [ATTRIBUTE.inputTokens]: input, [ATTRIBUTE.outputTokens]: output })
}
