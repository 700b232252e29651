import { SpanKind } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { recordTelemetry } from '../../test/recorded-spans.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { trace } from '../interceptors/trace.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ModelClient } from './model-client.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const META = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }

function setUp(...script: Parameters<typeof scriptedModel>) {
  const tools = new ToolManager()
  const metas: unknown[] = []
  tools.addCustomTool(
    defineTool({
      name: 'look',
      description: 'Looks',
      schema: { type: 'object' },
      handler: (_args, { meta }) => metas.push(meta),
    }),
  )
  const executor = new ToolExecutor(tools)
  executor.use(trace())
  const model = { ...scriptedModel(...script), model: 'script-1', _llmType: () => 'scripted' }
  return { client: new ModelClient({ model, executor }), metas }
}

const USAGE = { input_tokens: 7, output_tokens: 3 }

describe('a traced answer', () => {
  it('is a span around the turns of the model and the calls, in the trace that came with the question', async () => {
    using telemetry = recordTelemetry()
    const { client, metas } = setUp(
      { calls: [{ name: 'look' }, { name: 'look' }], usage: USAGE },
      { text: 'Done.', usage: USAGE },
    )
    await client.ask('look twice', { trace: true, meta: META })
    const spans = telemetry.spans()
    expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['chat script-1', SpanKind.CLIENT],
      ['execute_tool look', SpanKind.INTERNAL],
      ['execute_tool look', SpanKind.INTERNAL],
      ['chat script-1', SpanKind.CLIENT],
      ['invoke_agent', SpanKind.INTERNAL],
    ])
    const agent = spans.at(-1)
    expect(agent?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: '00f067aa0ba902b7' })
    const agentId = agent?.spanContext().spanId
    expect(spans.slice(0, -1).map(span => span.parentSpanContext?.spanId)).toEqual(Array(4).fill(agentId))
    const shared = { 'gen_ai.provider.name': 'scripted', 'gen_ai.request.model': 'script-1' }
    expect(spans[0]?.attributes).toEqual({
      ...shared,
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 3,
    })
    expect(agent?.attributes).toEqual({
      ...shared,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.usage.input_tokens': 14,
      'gen_ai.usage.output_tokens': 6,
    })
    expect(metas[0]).toMatchObject({ traceparent: `00-${TRACE}-${spans[1]?.spanContext().spanId}-01` })
  })
})
