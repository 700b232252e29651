import * as api from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { recordTelemetry } from '../../test/recorded-spans.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { removeFromLogs } from '../logging/redact.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { trace } from './index.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`

function setUp(options?: Parameters<typeof trace>[0]) {
  const tools = new ToolManager()
  const metas: unknown[] = []
  tools.addCustomTool(
    defineTool({
      name: 'greet',
      description: 'Greets',
      schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      handler: ({ name }, { meta }) => {
        metas.push(meta)
        if (name === 'nobody') throw new Error('nobody is here, token=abcdefgh12345678')
        return { greeting: `Hello ${name}` }
      },
    }),
  )
  const executor = new ToolExecutor(tools)
  executor.use(trace(options))
  const notes: unknown[] = []
  executor.observe(event => event.result && notes.push(event.notes))
  const run = (args: unknown = { name: 'Ada' }, meta?: Record<string, unknown>) =>
    executor.run({ id: 'call_1', name: 'greet', args }, { meta })
  return { executor, metas, notes, run }
}

describe('trace()', () => {
  it('makes a span of every call, by the names of the conventions', async () => {
    using telemetry = recordTelemetry()
    const { run, notes } = setUp()
    await run()
    const [span] = telemetry.spans()
    expect(span).toMatchObject({ name: 'execute_tool greet', kind: api.SpanKind.INTERNAL })
    expect(span?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'greet',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'call_1',
      'gen_ai.tool.description': 'Greets',
    })
    expect(span?.status.code).toBe(api.SpanStatusCode.UNSET)
    expect(notes).toEqual([{ trace_id: span?.spanContext().traceId }])
  })

  it.each([
    ['fails', { name: 'nobody' }, 'tool_error'],
    ['has wrong arguments', {}, 'invalid_arguments'],
  ])('marks a call that %s, with its code and no secret', async (_title, args, code) => {
    using telemetry = recordTelemetry()
    await setUp().run(args)
    const [span] = telemetry.spans()
    expect(span?.attributes['error.type']).toBe(code)
    expect(span?.status.code).toBe(api.SpanStatusCode.ERROR)
    expect(span?.status.message).not.toContain('abcdefgh12345678')
    expect(span?.status.message).not.toBe('')
  })

  it('shows arguments and results only if that was asked for, shortened and without secrets', async () => {
    using telemetry = recordTelemetry()
    const secret = 'correct-horse-battery-staple'
    removeFromLogs([secret])
    const args = { name: 'Ada', password: 'hunter2', note: `it is ${secret}`, long: 'x'.repeat(100_000) }
    await setUp({ arguments: true, results: true }).run(args)
    const [span] = telemetry.spans()
    const shown = String(span?.attributes['gen_ai.tool.call.arguments'])
    expect(JSON.parse(shown)).toMatchObject({ name: 'Ada' })
    expect(shown).not.toContain('hunter2')
    expect(shown).not.toContain(secret)
    expect(shown.length).toBeLessThan(2_000)
    expect(span?.attributes['gen_ai.tool.call.result']).toBe('{"greeting":"Hello Ada"}')
  })

  it('continues the trace that came with the call, and hands it on', async () => {
    using telemetry = recordTelemetry()
    const { run, metas } = setUp()
    const given = { traceparent: PARENT, tracestate: 'vendor=1', baggage: 'user=ada', other: 1 }
    await run({ name: 'Ada' }, given)
    const [span] = telemetry.spans()
    expect(span?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: '00f067aa0ba902b7' })
    expect(metas[0]).toEqual({ ...given, traceparent: `00-${TRACE}-${span?.spanContext().spanId}-01` })
    expect(given.traceparent).toBe(PARENT)
  })

  it('measures every call in seconds, with the buckets of the conventions and no made-up names', async () => {
    using telemetry = recordTelemetry()
    const { executor, run } = setUp()
    await run()
    await run({ name: 'nobody' })
    await executor.run({ name: 'made_up' })
    const metric = await telemetry.histogram('gen_ai.execute_tool.duration')
    expect(metric?.descriptor.unit).toBe('s')
    const points = metric?.dataPoints ?? []
    const named = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'greet',
      'gen_ai.tool.type': 'function',
    }
    expect(points.map(({ attributes }) => attributes)).toEqual([
      named,
      { ...named, 'error.type': 'tool_error' },
      { 'gen_ai.operation.name': 'execute_tool', 'error.type': 'unknown_tool' },
    ])
    expect(points[0]?.value).toMatchObject({
      count: 1,
      buckets: { boundaries: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] },
    })
  })
})
