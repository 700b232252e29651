import { inspect } from 'node:util'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import {
  type AnthropicRequest,
  type FakeAnthropicOptions,
  type FakeModelServer,
  type FakeOllamaOptions,
  fakeAnthropic,
  fakeClock,
  fakeOllama,
  fakeOpenAi,
  type OllamaRequest,
  recordingLogger,
} from '../testing/index.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { ModelStatus } from './ai-client.ts'
import { AnthropicClient, OllamaClient, OpenAiClient } from './index.ts'

const KEY = 'sk-ant-very-secret-0123456789'
const schema = { type: 'object', properties: {} }
const works = defineTool({ name: 'works', description: 'Works', schema, handler: () => 'done' })
const fails = defineTool({
  name: 'fails',
  description: 'Fails',
  schema,
  handler: () => Promise.reject(new Error(`no luck with ${KEY}`)),
})
const executorWith = (tools: readonly Tool[] = [works, fails]) => {
  const manager = new ToolManager()
  manager.addMcpTools(tools)
  return new ToolExecutor(manager)
}

async function anthropic(options: FakeAnthropicOptions, tools?: readonly Tool[], more = {}) {
  const server = await fakeAnthropic(options)
  onTestFinished(() => server.close())
  const logger = recordingLogger()
  const fixed = { executor: executorWith(tools), apiKey: KEY, baseUrl: server.url, logger, environment: {} }
  return { server, logger, client: new AnthropicClient({ ...fixed, ...more }) }
}

async function ollama(options: FakeOllamaOptions, more = {}) {
  const server = await fakeOllama(options)
  onTestFinished(() => server.close())
  const logger = recordingLogger()
  const fixed = { executor: executorWith(), baseUrl: server.url, logger, environment: {} }
  return { server, logger, client: new OllamaClient({ ...fixed, ...more }) }
}

describe('AnthropicClient', () => {
  it('merges the results of a turn into one message and marks failed ones is_error', async () => {
    const calls = [
      { name: 'works', id: 'toolu_a' },
      { name: 'fails', id: 'toolu_b' },
    ]
    const { client, server } = await anthropic({ replies: [{ text: 'Let me try', calls }, 'Done'] })
    await client.ask('go')
    expect(server.requests[1]?.body.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_a', content: 'done' },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_b',
          content: `Error: no luck with [removed]`,
          is_error: true,
        },
      ],
    })
  })

  it('the key is never in an error, a log or the client, even where the server repeats it', async () => {
    const { client, logger } = await anthropic({ apiKey: 'another', replies: [] })
    const error = await client.ask('go').catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'unauthorized' })
    expect(inspect([error, client], { depth: 10, showHidden: true })).not.toContain(KEY)
    expect(logger.text()).not.toContain(KEY)
  })

  it('offers every tool, in a form that Anthropic accepts, and calls it by its own names', async () => {
    const seen: unknown[] = []
    const invoke = async (args: object) => {
      seen.push(args)
      return 'done'
    }
    const top = { type: 'object', properties: { $top: { type: 'integer' } }, required: ['$top'] }
    const either = { properties: { id: {}, url: {} }, anyOf: [{ required: ['id'] }, { required: ['url'] }] }
    const tools = [
      { name: 'files.read', description: 'Reads', schema: top, invoke },
      { name: 'files_read', description: 'Another', schema, invoke },
      { name: 'either', description: 'Either', schema: either, invoke },
      {
        name: 'valibot',
        description: 'V',
        schema: toStandardJsonSchema(v.object({ x: v.string() })),
        invoke,
      },
      { name: 'alien', description: 'A', schema: { '~standard': { version: 1, vendor: 'mine' } }, invoke },
    ] as Tool[]
    const call = ({ tools: [first] = [] }: AnthropicRequest) => ({
      calls: [{ name: first?.name ?? '', args: { _top: '5' } }],
    })
    const { client, server, logger } = await anthropic({ replies: [call, 'Done'] }, tools)
    const answer = await client.ask('go', { tools })
    const [first, second] = server.requests.map(({ body }) => body)
    const safe = first?.tools?.[0]?.name
    expect(safe).toMatch(/^files_read_[0-9a-f]{6}$/)
    expect(first?.tools).toMatchObject([
      { input_schema: { required: ['_top'] } },
      { name: 'files_read' },
      { input_schema: { properties: { id: {}, url: {} } } },
      { input_schema: { properties: { x: { type: 'string' } } } },
      { name: 'alien', input_schema: { properties: {} } },
    ])
    expect(answer.results).toMatchObject([{ success: true, tool_name: 'files.read' }])
    expect(seen).toEqual([{ $top: 5 }])
    // The history has the tool's own names, what is sent has those that the model knows.
    expect(answer.messages[1]).toMatchObject({ tool_calls: [{ name: 'files.read', args: { $top: '5' } }] })
    expect(second?.messages[1]).toMatchObject({ content: [{ name: safe, input: { _top: '5' } }] })
    expect(logger.at('warn')).toMatchObject([
      { message: 'Tool offered without its arguments', fields: { tool: 'alien' } },
    ])
  })

  it('has key, model and address from the environment, settings from the program, and needs a key', async () => {
    await using server = await fakeAnthropic({ apiKey: 'sk-from-env', models: ['claude-x'], replies: ['hi'] })
    const environment = {
      ANTHROPIC_API_KEY: 'sk-from-env',
      ANTHROPIC_MODEL: 'claude-x',
      ANTHROPIC_BASE_URL: server.url,
    }
    const executor = executorWith()
    const client = new AnthropicClient({ executor, environment, settings: { maxTokens: 77 } })
    expect((await client.ask('hi')).text).toBe('hi')
    expect(server.requests[0]?.body.max_tokens).toBe(77)
    await expect(new AnthropicClient({ executor, environment: {} }).ask('hi')).rejects.toMatchObject({
      code: 'missing_key',
      message: expect.stringContaining('ANTHROPIC_API_KEY'),
    })
  })
})

describe('OpenAiClient', () => {
  it('needs a key for OpenAI, and none for another server; a wrong one is not repeated', async () => {
    const executor = executorWith()
    await expect(new OpenAiClient({ executor, environment: {} }).ask('hi')).rejects.toMatchObject({
      code: 'missing_key',
      message: expect.stringContaining('OPENAI_API_KEY'),
    })
    await using open = await fakeOpenAi({ replies: ['hi'] })
    const client = new OpenAiClient({ executor, model: 'fake', baseUrl: `${open.url}/v1`, environment: {} })
    expect((await client.ask('hi')).text).toBe('hi')
    await using closed = await fakeOpenAi({ apiKey: 'another' })
    const refused = new OpenAiClient({ executor, model: 'fake', baseUrl: `${closed.url}/v1`, apiKey: KEY })
    const error = await refused.ask('hi').catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'unauthorized' })
    expect(inspect([error, refused], { depth: 10, showHidden: true })).not.toContain(KEY)
  })
})

describe('OllamaClient', () => {
  const sent = (server: FakeModelServer<OllamaRequest>) => server.requests.map(({ body }) => body)

  it('says how to get a model that is missing, or one that can use tools', async () => {
    const missing = await ollama({ models: {} }, { model: 'llama9' })
    await expect(missing.client.ask('hi')).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringMatching(/'llama9' not found\. Get the model with `ollama pull llama9`$/),
    })
    const tiny = await ollama({ models: { tiny: ['completion'] } }, { model: 'tiny' })
    await expect(tiny.client.ask('hi')).rejects.toMatchObject({
      code: 'no_tools',
      message: expect.stringContaining('ollama pull qwen3:0.6b'),
    })
  })

  it.each([
    [{}, { keep_alive: '30m', options: { num_ctx: 4_096 } }],
    [{ settings: { numCtx: 8192, think: false } }, { think: false, options: { num_ctx: 8192 } }],
    [{ think: { '*': true, 'qwen3:*': false } }, { think: false }],
    [{ think: true, model: 'plain' }, { think: undefined }],
  ])('runs the model as it is told: %j', async (more, expected) => {
    const models = { 'qwen3:0.6b': ['tools', 'thinking'], plain: ['tools'] }
    const { client, server } = await ollama({ models, replies: ['hi'] }, more)
    await client.ask('hello')
    expect({ think: undefined, ...sent(server)[0] }).toMatchObject(expected)
  })

  it('asks for a context that tools and history fit into, which never shrinks, and warns at its limit', async () => {
    const { client, server, logger } = await ollama({ replies: ['a', 'b', 'c', 'd'] }, { maxContext: 8_192 })
    for (const text of ['hello', 'word '.repeat(4_000), 'hello']) await client.ask(text)
    expect(logger.at('warn')).toEqual([])
    await client.ask('word '.repeat(10_000))
    expect(sent(server).map(({ options }) => options?.num_ctx)).toEqual([4_096, 8_192, 8_192, 8_192])
    const message = expect.stringContaining('do not fit the model context')
    expect(logger.at('warn')).toMatchObject([{ message, fields: { context: 8_192 } }])
  })

  it('tells that the model is being loaded, every second until it is', async () => {
    const { promise: loading, resolve: isLoaded } = deferred()
    const { promise: first, resolve: heard } = deferred()
    const clock = fakeClock()
    const { client } = await ollama({ loading, replies: ['hi', 'again'] }, { clock })
    const told: string[] = []
    const onStatus = ({ state, elapsedMs }: ModelStatus) => {
      told.push(`${state} ${elapsedMs}`)
      heard()
    }
    const answer = client.ask('hello', { onStatus })
    await first
    await clock.advance(1_000)
    isLoaded()
    await answer
    await client.ask('hello', { onStatus })
    expect(told).toEqual(['loading 0', 'loading 1000', 'loaded 1000'])
  })
})

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
