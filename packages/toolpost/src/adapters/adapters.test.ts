import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { policy } from '../interceptors/policy.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import { ToolCallError, toAiSdkTools, toMastraTools, toOpenAiAgentsTools } from './index.ts'

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }
const tools = [
  defineTool<{ state: string }>({
    name: 'lights.turn',
    description: 'Turns the light',
    schema: { type: 'object', properties: { state: { enum: ['on', 'off'] } }, required: ['state'] },
    handler: ({ state }) => ({ state }),
  }),
  defineTool({
    name: 'camera',
    description: 'Takes a picture',
    schema: { type: 'object' },
    handler: () => new ToolOutput({}, [{ type: 'text', text: 'The door' }, image]),
  }),
  defineTool({
    name: 'wait',
    description: 'Waits until it is stopped',
    schema: { type: 'object' },
    handler: () => new Promise(() => {}),
  }),
  defineTool({
    name: 'wipe',
    description: 'Wipes the disk',
    schema: { type: 'object' },
    destructive: true,
    handler: () => 'wiped',
  }),
]

function newExecutor() {
  const executor = new ToolExecutor(new ToolManager({ tools }))
  executor.use(policy([{ from: ['chat'], if: { destructive: true }, then: 'deny' }]))
  return executor
}

/** Each adapter as a function that calls one of its tools. */
const ADAPTERS = {
  'the AI SDK': (name: string, args: object, signal?: AbortSignal) =>
    toAiSdkTools(newExecutor())[name]?.execute(args, { toolCallId: '1', abortSignal: signal }),
  Mastra: (name: string, args: object, signal?: AbortSignal) =>
    toMastraTools(newExecutor())[name]?.execute(args, { abortSignal: signal }),
  'OpenAI Agents': async (name: string, args: object, signal?: AbortSignal) => {
    const tool = toOpenAiAgentsTools(newExecutor()).find(each => each.name === name)
    const text = await tool?.invoke({}, JSON.stringify(args), signal ? { signal } : {})
    if (typeof text !== 'string') return text
    if (text.startsWith('Error: ')) throw new Error(text.slice('Error: '.length))
    return JSON.parse(text)
  },
}

describe.each(Object.entries(ADAPTERS))('a tool for %s', (_name, call) => {
  it('has a safe name, and is called through the executor, with repair', async () => {
    expect(await call('lights_turn', { state: 'ON' })).toEqual({ state: 'on' })
  })

  it('that fails says why as the library expects it', async () => {
    await expect(call('lights_turn', {})).rejects.toThrow(
      "Invalid parameters: missing 'state'. Required: state (one of on, off)",
    )
    await expect(call('wait', {}, AbortSignal.abort())).rejects.toThrow("Tool 'wait' was cancelled")
  })

  it('follows the rules for models', async () => {
    await expect(call('wipe', {})).rejects.toThrow("Tool 'wipe' was denied")
  })
})

it('images reach the model', async () => {
  const { camera } = toAiSdkTools(newExecutor())
  const output = await camera?.execute({})
  expect(camera?.toModelOutput({ output })).toMatchObject({
    type: 'content',
    value: [{ type: 'text' }, { type: 'file', mediaType: 'image/png', data: { data: image.data } }],
  })
  const [, shown] = (await ADAPTERS['OpenAI Agents']('camera', {})) as object[]
  expect(shown).toEqual({ type: 'image', image: { data: image.data, mediaType: 'image/png' } })
})

it('a failure keeps its result', async () => {
  const error = await ADAPTERS.Mastra('lights_turn', {})?.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ToolCallError)
  expect(error).toMatchObject({ result: { success: false, code: 'invalid_arguments' } })
})
