import { tool as langchainTool } from '@langchain/core/tools'
import { defineTool, type Tool } from 'toolpost'
import { AnthropicClient, ModelClient, OllamaClient, toQwenTools } from 'toolpost/models'
import { fakeAnthropic, fakeOllama, scriptedModel } from 'toolpost/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { executorFor } from './support.ts'

const schema = {
  type: 'object',
  properties: {
    deviceName: { type: 'string', description: 'The name of the device' },
    action: { type: 'string', enum: ['on', 'off'] },
  },
  required: ['deviceName', 'action'],
}

/** A tool in plain JSON Schema and one of LangChain with zod. */
function bothTools() {
  const handler = vi.fn((_args: { deviceName: string; action: string }) => 'Switch One is on.')
  const control = defineTool({ name: 'control', description: 'Switches a device', schema, handler })
  const city = langchainTool(async ({ city }: { city: string }) => city, {
    name: 'city',
    description: 'Names a city',
    schema: z.object({ city: z.string() }),
  })
  return { control, city, handler }
}

type Replies = NonNullable<Parameters<typeof fakeOllama>[0]>['replies']

/** An OllamaClient without settings of its own but the address. */
async function ollama(...replies: NonNullable<Replies>) {
  const server = await fakeOllama({ replies })
  onTestFinished(() => server.close())
  const { control, city, handler } = bothTools()
  const { executor, tools, logger } = executorFor([control, city as Tool])
  const client = new OllamaClient({ executor, model: 'qwen3:0.6b', baseUrl: server.url, logger })
  return { client, server, executor, tools, logger, handler, control, city }
}

async function anthropic(...replies: NonNullable<Parameters<typeof fakeAnthropic>[0]>['replies'] & object) {
  const server = await fakeAnthropic({ replies })
  onTestFinished(() => server.close())
  const { control, city } = bothTools()
  const { executor, tools } = executorFor([control, city as Tool])
  const client = new AnthropicClient({ executor, model: 'claude-x', apiKey: 'sk-test', baseUrl: server.url })
  return { client, server, executor, tools, control, city }
}

describe('AnthropicClient', () => {
  it('[D01 A15] gets the tools in LangChain format and runs its calls through the executor', async () => {
    const { client, server, executor } = await anthropic(
      { calls: [{ name: 'control', id: 'toolu_1', args: { deviceName: 'Switch One', action: 'on' } }] },
      'It is on',
    )
    const run = vi.spyOn(executor, 'run')
    expect((await client.ask('on')).text).toBe('It is on')
    expect(server.requests[0]?.body.tools).toMatchObject([
      { name: 'control', description: 'Switches a device', input_schema: schema },
      {
        name: 'city',
        description: 'Names a city',
        input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ])
    expect(run).toHaveBeenCalledOnce()
    expect(server.requests[1]?.body.messages.at(-1)).toMatchObject({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Switch One is on.' }],
    })
  })
})

describe('toQwenTools', () => {
  const invoke = async () => 'done'

  it('[D04] takes name, description and schema, and nothing else', () => {
    const mcp = { name: 'plain', lc_name: 'control', lc_kwargs: {}, description: 'Controls', schema, invoke }
    expect(toQwenTools([mcp])).toEqual([
      { type: 'function', function: { name: 'control', description: 'Controls', parameters: schema } },
    ])
    const custom = { name: 'mine', description: 'Mine', schema, invoke }
    expect(toQwenTools([custom])[0]?.function.name).toBe('mine')
    // On LangChain's tools lc_name is a method of the class, not the name of the tool.
    expect(toQwenTools([bothTools().city as Tool])[0]?.function.name).toBe('city')
  })

  it('[D05 D06] converts a list, also an empty one, and changes nothing in it', () => {
    const { control, city } = bothTools()
    const tools = Object.freeze([Object.freeze(control), city as Tool])
    const before = { ...control }
    const converted = toQwenTools(tools)
    expect(converted.map(({ function: { name } }) => name)).toEqual(['control', 'city'])
    expect(tools[0]).toEqual(before)
    expect(tools[1]).toBe(city)
    expect(toQwenTools(tools)).toEqual(converted)
    for (const nothing of [undefined, []]) expect(toQwenTools(nothing)).toEqual([])
  })

  it('[D09] produces what the documentation of Qwen requires, for any kind of schema', () => {
    const bare: Tool = { name: 'get_time', description: 'Tells the time', schema: { properties: {} }, invoke }
    const { control, city } = bothTools()
    for (const entry of toQwenTools([control, city as Tool, bare])) {
      expect(Object.keys(entry)).toEqual(['type', 'function'])
      expect(entry.type).toBe('function')
      expect(Object.keys(entry.function).sort()).toEqual(['description', 'name', 'parameters'])
      expect(entry.function.parameters).toMatchObject({ type: 'object', properties: expect.any(Object) })
    }
  })
})

describe('OllamaClient', () => {
  it('[D02 D07 D10] sends everything that a model needs to call the tools, and logs how many', async () => {
    const { client, server, logger } = await ollama('hi')
    await client.ask('hello')
    expect(logger.messages('debug')).toContain('🔧 Converted 2 tools from LangChain to Qwen format')
    expect(server.requests[0]?.path).toBe('/api/chat')
    expect(server.requests[0]?.body.model).toBe('qwen3:0.6b')
    const [control, city] = server.requests[0]?.body.tools ?? []
    expect(control).toEqual({
      type: 'function',
      function: { name: 'control', description: 'Switches a device', parameters: schema },
    })
    expect(city).toMatchObject({
      type: 'function',
      function: {
        name: 'city',
        description: 'Names a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    })
  })

  it('[D11 A16] runs the original tool with unchanged arguments, and sends its result back', async () => {
    const args = { deviceName: 'Switch One', action: 'on', extra: [1, { a: null }] }
    const { client, server, executor, handler } = await ollama(
      { calls: [{ name: 'control', args }] },
      'It is on',
    )
    const run = vi.spyOn(executor, 'run')
    expect((await client.ask('on')).text).toBe('It is on')
    expect(run.mock.calls[0]?.[0]).toMatchObject({ name: 'control', args })
    expect(handler.mock.calls[0]?.[0]).toEqual(args)
    expect(server.requests[1]?.body.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: 'Switch One is on.',
    })
  })
})

describe('the conversion', () => {
  it('[D08] is done by OllamaClient alone, and leaves the tools of the ToolManager as they are', async () => {
    const forOllama = await ollama('hi')
    const forAnthropic = await anthropic('hi')
    for (const { client, tools, control, city } of [forOllama, forAnthropic]) {
      await client.ask('hello')
      expect(tools.getTools()).toHaveLength(2)
      expect(tools.getTools()[0]).toBe(control)
      expect(tools.getTools()[1]).toBe(city)
      expect(control.schema).toEqual(schema)
    }
    expect(forOllama.server.requests[0]?.body.tools?.[0]).toHaveProperty('type', 'function')
    expect(forAnthropic.server.requests[0]?.body.tools?.[0]).not.toHaveProperty('function')
  })

  it('[D08] is not done for other models, which get tools with name, description and schema', async () => {
    const model = scriptedModel('hi')
    const bindTools = vi.spyOn(model, 'bindTools')
    const { control } = bothTools()
    const { executor } = executorFor([control])
    await new ModelClient({ model, executor }).ask('hello')
    expect(bindTools.mock.calls[0]?.[0]).toMatchObject([
      { name: 'control', description: 'Switches a device', schema },
    ])
    expect(bindTools.mock.calls[0]?.[0][0]).not.toHaveProperty('function')
  })
})
