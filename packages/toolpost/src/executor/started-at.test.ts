import { describe, expect, it } from 'vitest'
import { fakeClock } from '../testing/index.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './tool-executor.ts'

const endless = (begun: string[]) =>
  defineTool({
    name: 'endless',
    description: 'Never ends',
    schema: { type: 'object', properties: { a: { type: 'integer' } } },
    handler: () => {
      begun.push('endless')
      return new Promise<never>(() => {})
    },
  })

function executorWith(begun: string[] = []) {
  const clock = fakeClock(1_000)
  const tools = new ToolManager()
  tools.addCustomTool(endless(begun))
  return { clock, executor: new ToolExecutor(tools, { clock, timeoutMs: 1_000 }) }
}

describe('a call that began before it was run', () => {
  it('[F72] ends at the deadline counted from when it began', async () => {
    const { clock, executor } = executorWith()
    const result = executor.run({ name: 'endless' }, { startedAt: 400 })
    await clock.advance(399)
    expect(executor.metrics.snapshot().inFlight).toBe(1)
    await clock.advance(1)
    expect(await result).toMatchObject({ code: 'timeout', execution_time_ms: 1_000 })
  })

  it('[F72] times out without being validated or invoked if its time is already up', async () => {
    const begun: string[] = []
    const { executor } = executorWith(begun)
    const result = await executor.run({ name: 'endless', args: { a: 'x' } }, { startedAt: 0 })
    expect(result).toMatchObject({ code: 'timeout', execution_time_ms: 1_000 })
    expect(begun).toEqual([])
  })

  it('is reported with the time when it began', async () => {
    const { clock, executor } = executorWith()
    const starts: number[] = []
    executor.observe(({ startedAt }) => starts.push(startedAt))
    const now = Date.now()
    const result = executor.run({ name: 'endless' }, { startedAt: clock.now() - 500, timeoutMs: 600 })
    await clock.advance(100)
    await result
    expect(starts[0]).toBeLessThan(now)
    expect(starts).toEqual([starts[0], starts[0]])
  })
})

describe('heavy arguments', () => {
  it('[F46] are recorded after the answer', async () => {
    const tools = new ToolManager()
    tools.addCustomTool(
      defineTool({ name: 'quick', description: 'd', schema: { type: 'object' }, handler: () => 'done' }),
    )
    const executor = new ToolExecutor(tools)
    const ended: unknown[] = []
    let onEnd = () => {}
    const reported = new Promise<void>(resolve => {
      onEnd = resolve
    })
    executor.observe(({ result }) => {
      if (!result) return
      ended.push(result)
      onEnd()
    })
    const args = { list: Array.from({ length: 5_000 }, (_, n) => n) }
    const result = await executor.run({ name: 'quick', args })
    expect(result.success).toBe(true)
    expect(ended).toEqual([])
    await reported
    expect(ended).toEqual([result])
  })
})
