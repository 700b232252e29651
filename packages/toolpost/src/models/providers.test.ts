import { afterEach, describe, expect, it, vi } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { type AnthropicRequest, fakeAnthropic } from '../testing/fake-anthropic.ts'
import { fakeOllama, type OllamaRequest } from '../testing/fake-ollama.ts'
import { fakeOpenAi, type OpenAiRequest } from '../testing/fake-openai.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import type { FakeModelServer, FakeReply } from '../testing/scripted-model-server.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import type { AiClient, CallNotice } from './ai-client.ts'
import { AnthropicClient, ModelError, OllamaClient, OpenAiClient } from './index.ts'

type Script = (FakeReply | string)[]

interface Setup {
  client: AiClient
  server: FakeModelServer<unknown>
  executor: ToolExecutor
  /** What was sent in a request, one line per text, call, result or image. */
  sent(request: number): string[]
}

const PIXEL = 'iVBORw0KGgo='
const servers: FakeModelServer<unknown>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function newExecutor(): ToolExecutor {
  const plain = { description: 'Does it', schema: { type: 'object', properties: {} } }
  const texts = { device: { type: 'string' }, state: { type: 'string', enum: ['on', 'off'] } }
  const image = (data: string) => ({ type: 'image' as const, mimeType: 'image/png', data })
  const picture = [
    { type: 'text' as const, text: 'The door' },
    image(PIXEL),
    image('A'.repeat(6 * 1024 * 1024)),
  ]
  const tools = [
    defineTool<{ device: string; state: string }>({
      name: 'turn',
      description: 'Turns a device on or off',
      schema: { type: 'object', properties: texts, required: ['device', 'state'] },
      handler: ({ device, state }) => `${device} is ${state}`,
    }),
    defineTool({ ...plain, name: 'weather', handler: () => ({ degrees: 22 }) }),
    defineTool({ ...plain, name: 'broken', handler: () => Promise.reject(new Error('no')) }),
    defineTool({ ...plain, name: 'camera', handler: () => new ToolOutput({}, picture) }),
  ]
  return new ToolExecutor(new ToolManager({ tools }), { logger: recordingLogger() })
}

function started<Body>(
  server: FakeModelServer<Body>,
  clientOf: (executor: ToolExecutor) => AiClient,
  lines: (body: Body) => string[],
): Setup {
  servers.push(server as FakeModelServer<unknown>)
  const executor = newExecutor()
  const sent = (request: number) => lines(server.requests[request]?.body as Body)
  return { client: clientOf(executor), server: server as FakeModelServer<unknown>, executor, sent }
}

async function ollama(replies: Script, capabilities = ['tools', 'vision']): Promise<Setup> {
  const server = await fakeOllama({ models: { m: capabilities }, replies })
  const clientOf = (executor: ToolExecutor) => new OllamaClient({ executor, model: 'm', baseUrl: server.url })
  return started<OllamaRequest>(server, clientOf, ({ messages }) =>
    messages.flatMap(message => {
      const { role, content, tool_calls = [] } = message
      const { images = [] } = message as { images?: string[] }
      return [
        `${role}: ${content}`,
        ...tool_calls.map(call => `call: ${call.function.name} ${JSON.stringify(call.function.arguments)}`),
        ...images.map(data => `image: ${data}`),
      ]
    }),
  )
}

async function anthropic(replies: Script): Promise<Setup> {
  const server = await fakeAnthropic({ replies })
  const options = { model: 'm', apiKey: 'sk-test-key', baseUrl: server.url }
  const clientOf = (executor: ToolExecutor) => new AnthropicClient({ executor, ...options })
  return started<AnthropicRequest>(server, clientOf, ({ messages }) =>
    messages.flatMap(({ role, content }) => {
      if (typeof content === 'string') return [`${role}: ${content}`]
      return content.flatMap(block => {
        if (block.type === 'tool_use') return [`call: ${block.name} ${JSON.stringify(block.input)}`]
        if (block.type !== 'tool_result') return [`${role}: ${block.text}`]
        const inner = typeof block.content === 'string' ? [{ text: block.content }] : block.content
        return (inner as { text?: string; source?: { data: string } }[]).map(part =>
          part.source ? `image: ${part.source.data}` : `tool: ${part.text}`,
        )
      })
    }),
  )
}

async function openAi(replies: Script, images = true): Promise<Setup> {
  const server = await fakeOpenAi({ models: ['m'], replies })
  const options = { model: 'm', baseUrl: `${server.url}/v1`, images }
  const clientOf = (executor: ToolExecutor) => new OpenAiClient({ executor, ...options })
  return started<OpenAiRequest>(server, clientOf, ({ messages }) =>
    messages.flatMap(({ role, content, tool_calls = [] }) => [
      ...(typeof content === 'string' ? [`${role}: ${content}`] : []),
      ...(Array.isArray(content) ? content : []).map(part =>
        part.image_url ? `image: ${part.image_url.url.split(',')[1]}` : `${role}: ${part.text}`,
      ),
      ...tool_calls.map(call => `call: ${call.function.name} ${call.function.arguments}`),
    ]),
  )
}

describe.each([
  ['Ollama', ollama, /`ollama serve`/],
  ['Anthropic', anthropic, /ANTHROPIC_BASE_URL/],
  ['OpenAI', openAi, /OPENAI_BASE_URL/],
])('%s', (name, start, advice) => {
  const failure = (client: AiClient, options = {}) =>
    client.ask('hello', options).then(
      answer => expect.fail(`answered ${answer.text}`),
      (error: unknown) => error as ModelError,
    )

  it('runs the calls of each turn, tells of them, sends everything back, and streams the answer', async () => {
    const { client, sent } = await start([
      { text: 'First', calls: [{ name: 'turn', args: { device: 'lamp', state: 'ON' } }, { name: 'broken' }] },
      { text: ['It is', ' on'] },
    ])
    const tokens: string[] = []
    const events: CallNotice[] = []
    const answer = await client.ask('light please', {
      onToken: token => tokens.push(token),
      onCall: event => events.push(event),
    })
    expect(answer).toMatchObject({ text: 'It is on', iterations: 2, stopReason: 'answer' })
    expect(answer.usage).toMatchObject({ input: 20 })
    expect(answer.results).toMatchObject([
      { success: true, result: 'lamp is on', repairs: [expect.any(String)] },
      { success: false, code: 'tool_error', error: 'no' },
    ])
    expect(tokens).toEqual(['First', 'It is', ' on'])
    expect(events.map(({ type, call }) => `${type} ${call.name}`).slice(0, 2)).toEqual([
      'start turn',
      'start broken',
    ])
    expect(sent(1)).toEqual([
      'user: light please',
      'assistant: First',
      'call: turn {"device":"lamp","state":"ON"}',
      'call: broken {}',
      'tool: lamp is on',
      'tool: Error: no',
    ])
  })

  it('[F44] arguments as broken JSON text are repaired where that is certain, else refused, never completed', async () => {
    const { client, sent } = await start([
      {
        calls: [
          { name: 'weather', rawArgs: "{place: 'Oslo',}" },
          { name: 'turn', rawArgs: '{"device": "lamp", "state": "o' },
          { name: 'turn', args: { device: 'lamp', state: 'off' } },
        ],
      },
      'Two of three',
    ])
    const { results } = await client.ask('go')
    expect(results).toMatchObject([
      { success: true, tool_name: 'weather' },
      { success: false, code: 'invalid_arguments', tool_name: 'turn' },
      { success: true, result: 'lamp is off' },
    ])
    expect(sent(1)).toContain(
      'tool: Error: Invalid parameters: arguments must be object, got string. Required: device (string), state (one of on, off)',
    )
  })

  it('is shown the images of a result, if they are not too large, and the text', async () => {
    const { client, sent } = await start([{ calls: [{ name: 'camera' }, { name: 'weather' }] }, 'A door'])
    const { messages } = await client.ask('who is there?')
    const [text, image] = [expect.stringContaining('The door'), `image: ${PIXEL}`]
    const shown = sent(1).filter(line => /^(tool|image)/.test(line))
    expect(shown).toEqual(
      name === 'Anthropic' ? [text, image, 'tool: {"degrees":22}'] : [text, 'tool: {"degrees":22}', image],
    )
    expect(messages).toHaveLength(5)
  })

  it('[F42] a server that is down is named, with what to do', async () => {
    const { client, server } = await start([])
    await server.close()
    const error = await failure(client)
    expect(error).toBeInstanceOf(ModelError)
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining(server.url) })
    expect(error.message).toMatch(advice)
  })

  it.each([
    [400, 'rejected'],
    [401, 'unauthorized'],
    [404, 'model_not_found'],
  ])('status %i is %s at once, with what the calls did before', async (status, code) => {
    const { client, server } = await start([
      { calls: [{ name: 'weather' }] },
      { status, error: 'because of that' },
    ])
    const error = await failure(client)
    expect(error).toMatchObject({ code, message: expect.stringContaining('because of that') })
    expect(error.results).toMatchObject([{ success: true }])
    expect(server.requests).toHaveLength(2)
  })

  it.each(['socket', 'stream'] as const)(
    '[F42] a %s that is cut in the middle is never a success',
    async cut => {
      const { client } = await start([{ text: ['The light', ' is'], cut }])
      expect((await failure(client)).code).toBe('truncated')
    },
  )

  it('a call in a reply that reached the token limit does not run', async () => {
    const stopReason = name === 'Anthropic' ? 'max_tokens' : 'length'
    const { client, executor } = await start([{ stopReason, calls: [{ name: 'weather' }] }])
    const run = vi.spyOn(executor, 'run')
    expect((await failure(client)).code).toBe('truncated')
    expect(run).not.toHaveBeenCalled()
  })

  it('an answer that makes no sense is an error, and nothing is printed about it', async () => {
    const written = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
    const logged = [vi.spyOn(console, 'log'), vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')]
    const garbage = name === 'Ollama' ? '{"a"\n' : 'event: content_block_delta\ndata: {not json}\n\n'
    for (const reply of [{ body: '<html>proxy</html>' }, { text: 'x', garbage }]) {
      const { client } = await start([reply])
      expect(['invalid_response', 'truncated']).toContain((await failure(client)).code)
    }
    const { client } = await start([{ text: 'The', error: 'out of memory' }])
    expect((await failure(client)).message).toContain('out of memory')
    expect([...written, ...logged].flatMap(spy => spy.mock.calls)).toEqual([])
    vi.restoreAllMocks()
  })

  it.each(['before', 'after'] as const)(
    'the time limit and the caller stop it %s the first byte, and close the connection',
    async hangs => {
      const { client, server } = await start([
        { text: 'The light', hangs },
        { text: 'The light', hangs },
      ])
      const answer = await client.ask('hello', { timeLimitMs: 200 })
      expect(answer).toMatchObject({
        stopReason: 'time_limit',
        text: 'I could not answer within 0.2 seconds.',
      })
      await server.requests[0]?.closed
      const controller = new AbortController()
      const failed = failure(client, { signal: controller.signal })
      await server.received(2)
      controller.abort()
      expect((await failed).code).toBe('stopped')
      await server.requests[1]?.closed
    },
  )
})

it.each([
  ['Ollama without vision', () => ollama([{ calls: [{ name: 'camera' }] }, 'A door'], ['tools'])],
  ['a server that takes none', () => openAi([{ calls: [{ name: 'camera' }] }, 'A door'], false)],
])('a model on %s gets the text of images', async (_name, start) => {
  const { client, sent } = await start()
  await client.ask('who is there?')
  expect(sent(1).at(-1)).toMatch(/^tool: The door\n\[image image\/png\]/)
})
