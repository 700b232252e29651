import { describe, expect, it } from 'vitest'
import { fakeClock, recordingLogger } from '../testing/index.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import { ToolExecutor } from './executor.ts'

function tool(name: string, invoke: Tool['invoke'] = () => name, extra: Partial<Tool> = {}): Tool {
  return { name, description: `does ${name}`, schema: { type: 'object' }, invoke, ...extra }
}

function setup(...all: Tool[]) {
  const logger = recordingLogger()
  const clock = fakeClock()
  const tools = new ToolManager({ logger })
  for (const one of all) tools.addCustomTool(one)
  return { logger, clock, tools, executor: new ToolExecutor(tools, { logger, clock }) }
}

describe('among', () => {
  it('finds a tool under either of its names, and its successor if it was replaced since', async () => {
    const offered = [tool('a', () => 'old', { lc_name: 'other' })]
    const { executor, tools } = setup(...offered)
    expect(await executor.run({ name: 'other' }, { among: offered })).toMatchObject({ result: 'old' })
    tools.addCustomTool(tool('a', () => 'new'))
    expect(await executor.run({ name: 'a' }, { among: offered })).toMatchObject({ result: 'new' })
  })
})

describe('the longest time that a tool allows', () => {
  it('[F55] is not exceeded, whatever the caller, the tool or the executor would give', async () => {
    const hang = () => new Promise(() => {})
    const { executor, clock } = setup(
      tool('capped', hang, { timeoutMs: 100, maxTimeoutMs: 500 }),
      tool('own', hang, { timeoutMs: 900, maxTimeoutMs: 500 }),
      tool('default', hang, { maxTimeoutMs: 500 }),
      tool('odd', hang, { timeoutMs: 100, maxTimeoutMs: Number.NaN }),
    )
    const timeoutMs = Number.POSITIVE_INFINITY
    const running = [
      executor.run({ name: 'capped' }, { timeoutMs }),
      executor.run({ name: 'capped' }, { timeoutMs: 300 }),
      executor.run({ name: 'own' }),
      executor.run({ name: 'default' }),
      executor.run({ name: 'odd' }),
    ]
    await clock.advance(10)
    await clock.advance(1_000)
    const errors = (await Promise.all(running)).map(result => (result.success ? '' : result.error))
    expect(errors.map(error => error.match(/after (\d+) ms/)?.[1])).toEqual([
      '500',
      '300',
      '500',
      '500',
      '100',
    ])
  })
})

describe('a ToolOutput', () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }

  it('is its value for programs, its text for models, and its content for those who pass it on', async () => {
    const content = [{ type: 'text', text: 'three points' }, image]
    const { executor } = setup(tool('chart', async () => new ToolOutput({ points: 3 }, content)))
    const result = await executor.run({ name: 'chart' })
    expect(result).toMatchObject({ success: true, result: { points: 3 }, content })
    expect(executor.text(result)).toBe('three points\n[image image/png]')
  })
})
