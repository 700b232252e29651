import parsePrometheus from 'parse-prometheus-text-format'
import { describe, expect, it } from 'vitest'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'

interface Family {
  name: string
  type: string
  metrics: {
    labels?: Record<string, string>
    value?: string
    buckets?: Record<string, string>
    count?: string
    sum?: string
  }[]
}

const parse = (text: string) =>
  new Map((parsePrometheus(text) as Family[]).map(family => [family.name, family]))

describe('Prometheus text', () => {
  it('is what a Prometheus parser reads back', async () => {
    const manager = new ToolManager()
    manager.addCustomTool({ name: 'a"b\\c', description: 'd', schema: { type: 'object' }, invoke: () => 1 })
    const executor = new ToolExecutor(manager)
    await executor.run({ name: 'a"b\\c' })
    await executor.run({ name: 'unknown one' })
    await executor.run({ name: 'unknown two' })
    const families = parse(executor.metrics.prometheus())
    expect(families.get('TOOLPOST_CALLS_TOTAL'.toLowerCase())).toMatchObject({ type: 'COUNTER' })
    expect(
      families
        .get('toolpost_calls_total')
        ?.metrics.map(({ value }) => value)
        .sort(),
    ).toEqual(['1', '2'])
    expect(families.get('toolpost_failures_total')?.metrics).toMatchObject([
      { labels: { tool: '(unknown)', code: 'unknown_tool' }, value: '2' },
    ])
    expect(families.get('toolpost_calls_in_flight')?.metrics).toMatchObject([{ value: '0' }])
    expect(families.get('toolpost_call_duration_seconds')).toMatchObject({ type: 'HISTOGRAM' })
  })
})
