import type { AIMessage, BaseMessage, ToolMessage } from '@langchain/core/messages'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { type AnthropicRequest, fakeAnthropic } from '../testing/fake-anthropic.ts'
import { fakeOllama, type OllamaRequest } from '../testing/fake-ollama.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import type { FakeModelServer, FakeReply } from '../testing/scripted-model-server.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { AiClient, CallNotice } from './ai-client.ts'
import { AnthropicClient } from './anthropic/anthropic-client.ts'
import { ModelError } from './model-error.ts'
import { OllamaClient } from './ollama/ollama-client.ts'

type Script = (FakeReply | string)[]

/** A message as it went over the wire, written the same for every provider. */
interface WireMessage {
  role: string
  text: string
  calls: { name: string; args: unknown }[]
  results: string[]
}

interface Setup {
  client: AiClient
  server: FakeModelServer<unknown>
  executor: ToolExecutor
  logger: ReturnType<typeof recordingLogger>
  /** The messages of the n-th request. */
  sent(turn: number): WireMessage[]
  /** The tools of the n-th request: name and schema. */
  offered(turn: number): { name: string; description: string; schema: Record<string, unknown> }[]
}

const servers: FakeModelServer<unknown>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const turn = defineTool<{ device: string; state: string }>({
  name: 'turn',
  description: 'Turns a device on or off',
  schema: {
    type: 'object',
    properties: { device: { type: 'string' }, state: { type: 'string', enum: ['on', 'off'] } },
    required: ['device', 'state'],
  },
  handler: ({ device, state }) => `${device} is ${state}`,
})
const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather',
  schema: { type: 'object', properties: { place: { type: 'string' } } },
  handler: () => ({ temperature: 22 }),
})
const broken = defineTool({
  name: 'broken',
  description: 'Fails',
  schema: { type: 'object', properties: {} },
  handler: () => {
    throw new Error('the fuse is out')
  },
})

function manager(tools: readonly Tool[] = [turn, weather, broken]): ToolManager {
  const all = new ToolManager()
  for (const tool of tools) all.addCustomTool(tool)
  return all
}

async function withOllama(script: Script, tools = manager()): Promise<Setup> {
  const server = await fakeOllama({ replies: script })
  servers.push(server as FakeModelServer<unknown>)
  const logger = recordingLogger()
  const executor = new ToolExecutor(tools, { logger })
  const client = new OllamaClient({ executor, model: 'qwen3:0.6b', baseUrl: server.url, logger })
  const body = (number: number) => server.requests[number]?.body as OllamaRequest
  return {
    client,
    server: server as FakeModelServer<unknown>,
    executor,
    logger,
    offered: number =>
      (body(number).tools ?? []).map(({ function: { name, description, parameters } }) => ({
        name,
        description,
        schema: parameters as Record<string, unknown>,
      })),
    sent: number =>
      body(number).messages.reduce<WireMessage[]>((list, { role, content, tool_calls = [] }) => {
        const calls = tool_calls.map(call => ({ name: call.function.name, args: call.function.arguments }))
        const last = list.at(-1)
        if (role === 'tool' && last?.role === 'tool') last.results.push(content)
        else if (role === 'tool') list.push({ role, text: '', calls: [], results: [content] })
        else list.push({ role, text: content, calls, results: [] })
        return list
      }, []),
  }
}

async function withAnthropic(script: Script, tools = manager()): Promise<Setup> {
  const server = await fakeAnthropic({ replies: script })
  servers.push(server as FakeModelServer<unknown>)
  const logger = recordingLogger()
  const executor = new ToolExecutor(tools, { logger })
  const options = { executor, model: 'claude-haiku-4-5', apiKey: 'sk-test-key', baseUrl: server.url, logger }
  const body = (number: number) => server.requests[number]?.body as AnthropicRequest
  return {
    client: new AnthropicClient(options),
    server: server as FakeModelServer<unknown>,
    executor,
    logger,
    offered: number =>
      (body(number).tools ?? []).map(({ name, description, input_schema }) => ({
        name,
        description,
        schema: input_schema,
      })),
    sent: number =>
      body(number).messages.map(({ role, content }) => {
        const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
        const results = blocks.flatMap(block => (block.type === 'tool_result' ? [String(block.content)] : []))
        return {
          role: results.length > 0 ? 'tool' : role,
          text: blocks.map(block => block.text ?? '').join(''),
          calls: blocks.flatMap(block =>
            block.type === 'tool_use' ? [{ name: String(block.name), args: block.input }] : [],
          ),
          results,
        }
      }),
  }
}

const providers = { ollama: withOllama, anthropic: withAnthropic }

/** A history without what differs from run to run. */
function shape(messages: readonly unknown[]) {
  return (messages as BaseMessage[]).map(message => ({
    type: message.getType(),
    content: message.content,
    calls: ((message as AIMessage).tool_calls ?? []).map(({ name, args }) => ({ name, args })),
    status: (message as ToolMessage).status,
  }))
}

function withoutTimes(results: readonly object[]) {
  return results.map(result => ({ ...result, execution_time_ms: 0, tool_call_id: '' }))
}

describe.each(Object.entries(providers))('%s: the tool loop on the wire', (_name, start) => {
  it('answers with words alone where no tool is needed', async () => {
    const { client, server } = await start([{ text: ['Good ', 'morning'] }])
    const tokens: string[] = []
    const answer = await client.ask('hello', { onToken: token => tokens.push(token) })
    expect(answer).toMatchObject({ text: 'Good morning', results: [], iterations: 1, stopReason: 'answer' })
    expect(tokens).toEqual(['Good ', 'morning'])
    expect(server.requests).toHaveLength(1)
  })

  it('hands every call to the executor, repaired where that is certain', async () => {
    const { client, executor } = await start([
      { calls: [{ name: 'turn', args: { device: 'lamp', state: 'ON' } }] },
      'The lamp is on',
    ])
    const run = vi.spyOn(executor, 'run')
    const { results, text } = await client.ask('light please')
    expect(run).toHaveBeenCalledOnce()
    expect(run.mock.calls[0]?.[1]).toMatchObject({ repair: true })
    expect(results).toMatchObject([{ success: true, result: 'lamp is on', tool_name: 'turn' }])
    expect(results[0]?.repairs).toHaveLength(1)
    expect(text).toBe('The lamp is on')
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
    const { results, messages } = await client.ask('go')
    expect(results).toMatchObject([
      { success: true, tool_name: 'weather' },
      { success: false, code: 'invalid_arguments', tool_name: 'turn' },
      { success: true, result: 'lamp is off' },
    ])
    expect(sent(1).at(-1)?.results[1]).toBe(
      'Error: Invalid parameters: arguments must be object, got string. Required: device (string), state (one of on, off)',
    )
    expect((messages[1] as AIMessage).tool_calls).toMatchObject([
      { args: { place: 'Oslo' } },
      { args: {} },
      { args: { device: 'lamp', state: 'off' } },
    ])
  })

  it('tells of calls as they start and end, with result and duration', async () => {
    const { client } = await start([{ calls: [{ name: 'weather' }, { name: 'broken' }] }, 'done'])
    const events: CallNotice[] = []
    await client.ask('go', { onCall: event => events.push(event) })
    expect(events.slice(0, 2).map(({ type, call }) => `${type} ${call.name}`)).toEqual([
      'start weather',
      'start broken',
    ])
    const broken = events.slice(2).find(({ call }) => call.name === 'broken')
    expect(broken).toMatchObject({
      type: 'end',
      result: { code: 'tool_error' },
      durationMs: expect.any(Number),
    })
  })
})

describe('both providers alike', () => {
  it('three turns with parallel and failing calls give the same results and an equivalent history', async () => {
    const script: Script = [
      {
        text: 'First',
        calls: [{ name: 'weather', args: { place: 'Oslo' } }, { name: 'broken' }, { name: 'nobody' }],
      },
      {
        calls: [
          { name: 'turn', args: { device: 'heater', state: 'On' } },
          { name: 'turn', args: { device: 'lamp' } },
          { name: 'weather', rawArgs: '{oops' },
        ],
      },
      { text: 'Once more', calls: [{ name: 'turn', args: { device: 'lamp', state: 'off' } }] },
      'The heater is on',
    ]
    const runs = await Promise.all([withOllama(script), withAnthropic(script)])
    const [ollama, anthropic] = await Promise.all(runs.map(({ client }) => client.ask('make it warm')))
    expect(ollama?.iterations).toBe(4)
    expect(withoutTimes(ollama?.results ?? [])).toHaveLength(7)
    expect(withoutTimes(ollama?.results ?? [])).toEqual(withoutTimes(anthropic?.results ?? []))
    expect(shape(ollama?.messages ?? [])).toEqual(shape(anthropic?.messages ?? []))
    expect(runs[0].sent(3)).toEqual(runs[1].sent(3))
  })
})

describe.each(Object.entries(providers))('%s: when things go wrong', (name, start) => {
  const failure = (client: AiClient, options = {}) =>
    client.ask('hello', options).then(
      answer => expect.fail(`answered ${answer.text}`),
      (error: unknown) => error as ModelError,
    )

  it('[F42] a server that is down is named, with what to do', async () => {
    const { client, server } = await start([])
    await server.close()
    const error = await failure(client)
    expect(error).toBeInstanceOf(ModelError)
    expect(error.code).toBe('unreachable')
    expect(error.message).toContain(server.url)
    expect(error.message).toMatch(name === 'ollama' ? /`ollama serve`/ : /ANTHROPIC_BASE_URL/)
  })

  it.each([
    [400, 'rejected'],
    [401, 'unauthorized'],
    [404, 'model_not_found'],
    [418, 'rejected'],
  ])('status %i is %s at once', async (status, code) => {
    const { client, server } = await start([{ status, error: 'because of that' }])
    const error = await failure(client)
    expect(error.code).toBe(code)
    expect(error.message).toContain('because of that')
    expect(server.requests).toHaveLength(1)
  })

  it('says nothing on stdout or stderr about it', async () => {
    const written = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
    const logged = vi.spyOn(console, 'log').mockImplementation(() => {})
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    for (const reply of [{ status: 418, body: 'I am a proxy' }, { body: '<html>' }, { garbage: '{"a"' }]) {
      const { client } = await start([reply])
      await failure(client, { timeLimitMs: 500 })
    }
    expect([...written, logged, warned].flatMap(spy => spy.mock.calls)).toEqual([])
    vi.restoreAllMocks()
  })

  it.each(['socket', 'stream'] as const)(
    '[F42] a %s that is cut in the middle is never a success',
    async cut => {
      const { client } = await start([{ text: ['The light', ' is'], cut }])
      expect((await failure(client)).code).toBe('truncated')
    },
  )

  it('a call in a reply that reached the token limit does not run', async () => {
    const stopReason = name === 'ollama' ? 'length' : 'max_tokens'
    const { client, executor } = await start([
      { stopReason, calls: [{ name: 'turn', args: { device: 'lamp', state: 'on' } }] },
    ])
    const run = vi.spyOn(executor, 'run')
    expect((await failure(client)).code).toBe('truncated')
    expect(run).not.toHaveBeenCalled()
  })

  it.each([
    { body: '<html>proxy</html>' },
    { text: 'x', garbage: 'event: content_block_delta\ndata: {not json}\n\n' },
  ])('an answer that makes no sense is an error: %j', async reply => {
    const { client } = await start([reply])
    expect(['invalid_response', 'truncated']).toContain((await failure(client)).code)
  })

  it('[F42] an error in the middle of the stream is one', async () => {
    const { client } = await start([{ text: 'The', error: 'out of memory' }])
    expect((await failure(client)).message).toContain('out of memory')
  })

  it.each(['before', 'after'] as const)(
    'the time limit holds %s the first byte, and closes the connection',
    async hangs => {
      const { client, server } = await start([{ text: 'The light', hangs }])
      const answer = await client.ask('hello', { timeLimitMs: 200 })
      expect(answer.stopReason).toBe('time_limit')
      expect(answer.text).toBe('I could not answer within 0.2 seconds.')
      await server.requests[0]?.closed
    },
  )

  it.each(['before', 'after'] as const)('the caller can stop it %s the first byte', async hangs => {
    const { client, server } = await start([{ text: 'The light', hangs }])
    const controller = new AbortController()
    const failed = failure(client, { signal: controller.signal })
    await server.received(1)
    controller.abort()
    expect((await failed).code).toBe('stopped')
    await server.requests[0]?.closed
  })

  it('what the calls did before it went wrong is told', async () => {
    const { client } = await start([
      { calls: [{ name: 'turn', args: { device: 'lamp', state: 'on' } }] },
      { status: 400, error: 'no more' },
    ])
    expect((await failure(client)).results).toMatchObject([{ success: true, result: 'lamp is on' }])
  })

  it.each(['', '   '])('an empty question (%j) is refused', async question => {
    const { client, server } = await start([])
    await expect(client.ask(question)).rejects.toMatchObject({ code: 'empty_question' })
    await expect(client.ask([])).rejects.toMatchObject({ code: 'empty_question' })
    expect(server.requests).toHaveLength(0)
  })

  it('after the last iteration the answer is asked for, and calls in it are not run', async () => {
    const again: FakeReply = { calls: [{ name: 'weather' }] }
    const { client, server, sent } = await start([again, again, { text: 'Enough', calls: again.calls ?? [] }])
    const answer = await client.ask('loop', { maxIterations: 2 })
    expect(answer).toMatchObject({ text: 'Enough', stopReason: 'max_iterations', iterations: 2 })
    expect(answer.results).toHaveLength(2)
    expect(server.requests).toHaveLength(3)
    expect(sent(2)).toHaveLength(5)
    expect(shape(answer.messages).at(-1)).toMatchObject({ content: 'Enough', calls: [] })
  })
})
