import { describe, expect, it } from 'vitest'
import { defineTool, type Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolExecutor } from './executor.ts'
import type { ExecutorOptions } from './options.ts'

const weather = defineTool<{ location: string }>({
  name: 'weather',
  description: 'The weather somewhere',
  schema: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
  handler: async ({ location }) => ({ location, temperature: 22 }),
})

function toolThat(name: string, handler: Tool['invoke'], extra: Partial<Tool> = {}): Tool {
  return { name, description: `does ${name}`, schema: { type: 'object' }, invoke: handler, ...extra }
}

function executorWith(tools: Tool[], options: ExecutorOptions = {}): ToolExecutor {
  const manager = new ToolManager(options.logger ? { logger: options.logger } : {})
  for (const tool of tools) manager.addCustomTool(tool)
  return new ToolExecutor(manager, options)
}

describe('a call that fails', () => {
  it.each([
    ['weahter', ['weather']],
    ['weather_', ['weather', 'weather_alarm', 'the_weather_of_tomorrow']],
    ['quartz', []],
    ['a_very_long_name', []],
  ])('suggests for %s what is near, the nearest first', async (name, suggestions) => {
    const names = ['the_weather_of_tomorrow', 'weather_alarm', 'weather', 'a', 'on']
    const executor = executorWith(names.map(tool => toolThat(tool, async () => 'done')))
    const result = await executor.run({ id: '1', name, args: {} })
    expect(result).toMatchObject({ code: 'unknown_tool' })
    expect((result as { diagnosis?: { suggestions?: string[] } }).diagnosis?.suggestions).toEqual(suggestions)
  })

  it('answers a tool whose schema does not compile with invalid_schema, and the others go on', async () => {
    const broken = toolThat('broken', () => 1, {
      schema: { type: 'object', properties: { a: { type: 'wat' } } },
    })
    const executor = executorWith([broken, weather])
    const result = await executor.run({ name: 'broken', args: { a: 1 } })
    expect(result).toMatchObject({ code: 'invalid_schema' })
    expect(result.success === false && result.error).toMatch(/^Tool 'broken' has an unusable schema: /)
    expect(await executor.run({ name: 'weather', args: { location: 'Oslo' } })).toMatchObject({
      success: true,
    })
  })
})

describe('extra arguments', () => {
  it('are dropped before the call where it is closed, at any depth and in alternatives', async () => {
    const closed = { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false }
    const form = (kind: string, key: string) => ({
      type: 'object',
      properties: { kind: { const: kind }, [key]: { type: 'string' } },
      required: ['kind', key],
      additionalProperties: false,
    })
    const schema = {
      type: 'object',
      properties: {
        inner: closed,
        list: { type: 'array', items: closed },
        either: { oneOf: [form('a', 'x'), form('b', 'y')] },
      },
      additionalProperties: false,
    }
    const tool = toolThat('closed', args => args, { schema })
    const args = {
      inner: { n: 1, z: 2 },
      list: [{ n: 1 }, { q: 0 }],
      either: { kind: 'a', x: '1', c: 2 },
      extra: true,
    }
    const before = structuredClone(args)
    expect(await executorWith([tool]).run({ name: 'closed', args })).toMatchObject({
      success: true,
      result: { inner: { n: 1 }, list: [{ n: 1 }, {}], either: { kind: 'a', x: '1' } },
    })
    expect(args).toEqual(before)
  })
})

describe('observers', () => {
  it('see every call begin and end, with who asked, until they stop', async () => {
    const executor = executorWith([weather])
    const seen: unknown[] = []
    const serials = new Set<string>()
    const stop = executor.observe(({ serial, call, origin, result }) => {
      serials.add(serial)
      seen.push([serials.size, call.name, origin, result?.success])
      throw new Error('an observer that fails')
    })
    await executor.run({ name: 'weather', args: { location: 'Oslo' } }, { origin: 'http' })
    await executor.run({ name: 'nothing' })
    stop()
    await executor.run({ name: 'weather', args: { location: 'Oslo' } })
    expect(seen).toEqual([
      [1, 'weather', 'http', undefined],
      [1, 'weather', 'http', true],
      [2, 'nothing', undefined, undefined],
      [2, 'nothing', undefined, false],
    ])
  })
})
