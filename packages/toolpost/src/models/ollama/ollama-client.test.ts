import { afterEach, describe, expect, it } from 'vitest'
import { ToolExecutor } from '../../executor/executor.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { type FakeOllamaOptions, fakeOllama, type OllamaRequest } from '../../testing/fake-ollama.ts'
import { recordingLogger } from '../../testing/recording-logger.ts'
import type { FakeModelServer } from '../../testing/scripted-model-server.ts'
import { defineTool } from '../../tools/tool.ts'
import { ToolManager } from '../../tools/tool-manager.ts'
import type { ModelStatus } from '../ai-client.ts'
import { OllamaClient } from './ollama-client.ts'

const servers: FakeModelServer<OllamaRequest>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function setup(options: FakeOllamaOptions, more = {}) {
  const server = await fakeOllama(options)
  servers.push(server)
  const logger = recordingLogger()
  const tools = new ToolManager()
  const seen: unknown[] = []
  tools.addCustomTool(
    defineTool({
      name: 'control',
      description: 'Controls a device',
      schema: { type: 'object', properties: { deviceName: { type: 'string' } }, required: ['deviceName'] },
      handler: args => {
        seen.push(args)
        return 'done'
      },
    }),
  )
  const executor = new ToolExecutor(tools)
  const client = new OllamaClient({ executor, baseUrl: server.url, logger, environment: {}, ...more })
  return { server, client, logger, seen }
}

describe('OllamaClient', () => {
  it('the request is as Ollama expects it, for qwen3:0.6b if nothing else is said', async () => {
    const { client, server } = await setup({ replies: ['hi'] })
    await client.ask('hello')
    expect(server.requests[0]).toMatchObject({ path: '/api/chat' })
    expect(server.requests[0]?.body).toMatchObject({
      model: 'qwen3:0.6b',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'control',
            description: 'Controls a device',
            parameters: { type: 'object', required: ['deviceName'] },
          },
        },
      ],
    })
  })

  it('sends no tools if there are none, or with the last word', async () => {
    const call = { calls: [{ name: 'control', args: { deviceName: 'x' } }] }
    const { client, server } = await setup({ replies: ['hi', call, 'bye'] })
    await client.ask('hello', { tools: [] })
    await client.ask('hello', { maxIterations: 1 })
    expect(server.requests.map(({ body }) => body.tools?.length)).toEqual([undefined, 1, undefined])
  })

  it('a model that is missing says which, and how to get it', async () => {
    const { client } = await setup({ models: {} }, { model: 'llama9' })
    await expect(client.ask('hi')).rejects.toMatchObject({
      code: 'model_not_found',
      message: expect.stringMatching(/'llama9' not found\. Get the model with `ollama pull llama9`$/),
    })
  })

  it('a model that cannot use tools says so', async () => {
    const { client } = await setup({ models: { tiny: ['completion'] } }, { model: 'tiny' })
    await expect(client.ask('hi')).rejects.toMatchObject({
      code: 'no_tools',
      message: expect.stringContaining('ollama pull qwen3:0.6b'),
    })
  })

  it('a crash of the model is not tried again, a full queue is', async () => {
    const busy = { status: 503, error: 'server busy', headers: { 'retry-after': '0' } }
    const { client, server } = await setup({ replies: [busy, 'hi', { status: 500, error: 'crashed' }] })
    expect((await client.ask('hello')).text).toBe('hi')
    await expect(client.ask('hello')).rejects.toMatchObject({ code: 'server_error' })
    expect(server.requests).toHaveLength(3)
  })

  it('questions at the same time do not interfere', async () => {
    const { client, server } = await setup({ replies: [{ hangs: 'before' }, 'second'] })
    const controller = new AbortController()
    const first = client.ask('first', { signal: controller.signal })
    await server.received(1)
    expect((await client.ask('second')).text).toBe('second')
    controller.abort()
    await expect(first).rejects.toMatchObject({ code: 'stopped' })
  })

  it('has model and address from the environment', () => {
    const environment = { OLLAMA_MODEL: 'qwen3:4b', OLLAMA_HOST: 'box' }
    const client = new OllamaClient({ environment })
    expect([client.model, client.baseUrl]).toEqual(['qwen3:4b', 'http://box:11434'])
    const given = new OllamaClient({ environment, model: 'mine', baseUrl: 'http://there:1/' })
    expect([given.model, given.baseUrl]).toEqual(['mine', 'http://there:1'])
  })

  it('passes settings on to ChatOllama', async () => {
    const { client, server } = await setup({ replies: ['hi'] }, { settings: { numCtx: 8192, think: false } })
    await client.ask('hello')
    expect(server.requests[0]?.body).toMatchObject({ think: false, options: { num_ctx: 8192 } })
  })
})

describe('a request to Ollama', () => {
  const sent = (server: FakeModelServer<OllamaRequest>) => server.requests.map(({ body }) => body)

  it('keeps the model in memory for half an hour, or as long as it is told', async () => {
    const { client, server } = await setup({ replies: ['hi'] })
    await client.ask('hello')
    expect(sent(server)[0]?.keep_alive).toBe('30m')
    const other = await setup({ replies: ['hi'] }, { keepAlive: -1 })
    await other.client.ask('hello')
    expect(sent(other.server)[0]?.keep_alive).toBe(-1)
  })

  it.each([
    ['nothing', undefined, 'qwen3:0.6b', undefined],
    ['false', false, 'qwen3:0.6b', false],
    ['true', true, 'qwen3:0.6b', true],
    ['true, to a model that cannot', true, 'plain', undefined],
    ['the longest pattern', { '*': true, 'qwen3:*': false }, 'qwen3:0.6b', false],
    ['patterns of others', { 'llama*': true }, 'qwen3:0.6b', undefined],
  ])('thinks as it is told: %s', async (_what, think, model, expected) => {
    const models = { 'qwen3:0.6b': ['tools', 'thinking'], plain: ['tools'] }
    const { client, server } = await setup({ models, replies: ['hi'] }, { think, model })
    await client.ask('hello')
    expect(sent(server)[0]?.think).toBe(expected)
  })

  it('asks for a context that tools and history fit into, which never shrinks', async () => {
    const { client, server, logger } = await setup({ replies: ['a', 'b', 'c'] })
    await client.ask('hello')
    await client.ask('word '.repeat(4_000))
    await client.ask('hello')
    expect(sent(server).map(({ options }) => options?.num_ctx)).toEqual([4_096, 8_192, 8_192])
    expect(logger.at('warn')).toEqual([])
  })

  it.each([
    ['the configuration', { maxContext: 8_192 }, undefined, 8_192],
    ['the model', {}, 6_000, 6_000],
    ['the program', { settings: { numCtx: 5_000 } }, undefined, 5_000],
  ])(
    'does not ask for more than %s allows, and warns if that is too little',
    async (_whose, more, contextLength, size) => {
      const options = contextLength === undefined ? {} : { contextLength }
      const { client, server, logger } = await setup({ ...options, replies: ['a'] }, more)
      await client.ask('word '.repeat(10_000))
      expect(sent(server)[0]?.options?.num_ctx).toBe(size)
      expect(logger.at('warn')).toMatchObject([
        {
          message: expect.stringContaining('do not fit the model context'),
          fields: { model: 'qwen3:0.6b', context: size },
        },
      ])
    },
  )

  it('tells that the model is being loaded, every second until it is', async () => {
    let isLoaded = () => {}
    const loading = new Promise<void>(resolve => {
      isLoaded = resolve
    })
    const clock = fakeClock()
    const { client } = await setup({ loading, replies: ['hi', 'again'] }, { clock })
    const told: ModelStatus[] = []
    let heard = () => {}
    const next = () =>
      new Promise<void>(resolve => {
        heard = resolve
      })
    const first = next()
    const onStatus = (status: ModelStatus) => {
      told.push(status)
      heard()
    }
    const answer = client.ask('hello', { onStatus })
    await first
    await clock.advance(1_000)
    await clock.advance(1_000)
    isLoaded()
    await answer
    expect(told.map(({ state, elapsedMs }) => `${state} ${elapsedMs}`)).toEqual([
      'loading 0',
      'loading 1000',
      'loading 2000',
      'loaded 2000',
    ])
    await client.ask('hello', { onStatus })
    expect(told).toHaveLength(4)
  })
})
