import { describe, expect, it, vi } from 'vitest'
import { policy } from '../interceptors/index.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './tool-executor.ts'

function setup() {
  const invoke = vi.fn(() => 'done')
  const tools = new ToolManager()
  const schema = { type: 'object', properties: { level: { type: 'integer' } }, required: ['level'] }
  tools.addCustomTool({ name: 'dim', description: 'Dims', schema, invoke })
  const logger = recordingLogger()
  return { executor: new ToolExecutor(tools, { logger }), invoke, logger }
}

describe('foresee', () => {
  it('runs, counts and logs nothing', async () => {
    const { executor, invoke, logger } = setup()
    const { tool, failure, verdict } = await executor.foresee({ name: 'dim', args: { level: 3 } })
    expect([tool?.name, failure, verdict]).toEqual(['dim', undefined, undefined])
    expect(invoke).not.toHaveBeenCalled()
    expect(executor.metrics.snapshot()).toMatchObject({ calls: 0, inFlight: 0 })
    expect(logger.records).toEqual([])
  })

  it('finds, repairs and validates as run does', async () => {
    const { executor } = setup()
    const codeOf = async (call: { name: string; args?: object }, options = {}) =>
      (await executor.foresee(call, options)).failure?.code
    expect(await codeOf({ name: 'nope' })).toBe('unknown_tool')
    expect(await codeOf({ name: 'dim', args: { level: 1 } }, { among: [] })).toBe('unknown_tool')
    expect(await codeOf({ name: 'dim' })).toBe('invalid_arguments')
    expect(await codeOf({ name: 'dim', args: { level: '3' } })).toBe('invalid_arguments')
    expect(await codeOf({ name: 'dim', args: { level: '3' } }, { repair: true })).toBeUndefined()
  })

  it('says what the policy would, the strictest of them, without asking anybody', async () => {
    const { executor } = setup()
    const ask = vi.fn()
    const verdictOn = async (level: number) =>
      (await executor.foresee({ name: 'dim', args: { level } }, { ask, origin: 'chat' })).verdict
    executor.use(policy([{ args: { properties: { level: { const: 1 } } }, then: 'ask' }]))
    expect([await verdictOn(1), await verdictOn(2)]).toEqual(['ask', 'allow'])
    executor.use(policy([{ tools: 'dim', from: ['chat'], then: 'deny' }]))
    expect(await verdictOn(2)).toBe('deny')
    expect(ask).not.toHaveBeenCalled()
  })
})
