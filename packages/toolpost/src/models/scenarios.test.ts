import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ToolExecutor } from '../executor/tool-executor.ts'
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

const user = (text: string) => ({ role: 'user', text, calls: [], results: [] })

describe.each(Object.entries(providers))('%s: the tool loop on the wire', (_name, start) => {
  it('[A15 A16] answers with words alone where no tool is needed', async () => {
    const { client, server } = await start([{ text: ['Good ', 'morning'] }])
    const tokens: string[] = []
    const answer = await client.ask('hello', { onToken: token => tokens.push(token) })
    expect(answer).toMatchObject({ text: 'Good morning', results: [], iterations: 1, stopReason: 'answer' })
    expect(tokens).toEqual(['Good ', 'morning'])
    expect(server.requests).toHaveLength(1)
  })

  it('[A15 A16 C01] hands every call to the executor, repaired where that is certain', async () => {
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

  it('[C06 C07] calls have an id of their own, the name of a tool, and arguments as an object', async () => {
    const call = { name: 'weather', args: { place: 'Oslo' } }
    const { client, executor } = await start([{ calls: [call, call] }, 'done'])
    const run = vi.spyOn(executor, 'run')
    await client.ask('weather?')
    const [first, second] = run.mock.calls.map(([asked]) => asked)
    expect(first).toEqual({ id: expect.any(String), name: 'weather', args: { place: 'Oslo' } })
    expect(second?.id).not.toBe(first?.id)
  })

  it('[C02 C08] the history holds AIMessage({content, tool_calls}) and ToolMessage({content, tool_call_id})', async () => {
    const { client } = await start([
      { text: 'Let me see', calls: [{ name: 'weather', args: { place: 'Oslo' } }] },
      'It is 22 degrees',
    ])
    const { messages } = await client.ask('weather?')
    const [question, request, result, answer] = messages as [HumanMessage, AIMessage, ToolMessage, AIMessage]
    expect(question).toBeInstanceOf(HumanMessage)
    expect(request).toBeInstanceOf(AIMessage)
    expect(request).toMatchObject({ content: 'Let me see', tool_calls: [{ name: 'weather' }] })
    expect(result).toBeInstanceOf(ToolMessage)
    expect(result.tool_call_id).toBe(request.tool_calls?.[0]?.id)
    expect(result.content).toBe('{"temperature":22}')
    expect(answer).toMatchObject({ content: 'It is 22 degrees', tool_calls: [] })
  })

  it('[C03] results reach the model as text: strings, objects as JSON, the text of [text, artifacts]', async () => {
    const tools = manager([turn, weather])
    const reading = { name: 'reading', description: 'Reads', schema: { type: 'object' } }
    const invoke = async () => [[{ type: 'text', text: '21.5 °C' }], [{ type: 'image' }]]
    tools.addMcpTools([{ ...reading, responseFormat: 'content_and_artifact', invoke } as Tool])
    const { client, sent } = await start(
      [
        {
          calls: [
            { name: 'turn', args: { device: 'lamp', state: 'on' } },
            { name: 'weather' },
            { name: 'reading' },
          ],
        },
        'done',
      ],
      tools,
    )
    await client.ask('all of it')
    expect(sent(1).at(-1)?.results).toEqual(['lamp is on', '{"temperature":22}', '21.5 °C'])
  })

  it('[C09] every turn is sent the complete history, in order', async () => {
    const { client, sent } = await start([
      { calls: [{ name: 'weather', args: { place: 'Oslo' } }] },
      { text: 'Cold', calls: [{ name: 'turn', args: { device: 'heater', state: 'on' } }] },
      'The heater is on',
    ])
    const { iterations } = await client.ask('make it warm')
    expect(iterations).toBe(3)
    expect(sent(2)).toEqual([
      user('make it warm'),
      { role: 'assistant', text: '', calls: [{ name: 'weather', args: { place: 'Oslo' } }], results: [] },
      { role: 'tool', text: '', calls: [], results: ['{"temperature":22}'] },
      {
        role: 'assistant',
        text: 'Cold',
        calls: [{ name: 'turn', args: { device: 'heater', state: 'on' } }],
        results: [],
      },
      { role: 'tool', text: '', calls: [], results: ['heater is on'] },
    ])
  })

  it('[C09] a conversation goes on from the messages of the last answer, which are not changed', async () => {
    const { client, sent } = await start([{ calls: [{ name: 'weather' }] }, 'Warm', 'Still warm'])
    const { messages } = await client.ask('weather?')
    const before = [...messages]
    const next = await client.ask([...messages, { role: 'user', content: 'and now?' }])
    expect(messages).toEqual(before)
    expect(sent(2).map(message => message.role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
    expect(next.messages).toHaveLength(6)
  })

  it('[C10] a failing tool is answered with its message, and the model goes on', async () => {
    const { client, sent } = await start([{ calls: [{ name: 'broken' }] }, 'The fuse is out'])
    const { results, text, messages } = await client.ask('try it')
    expect(sent(1).at(-1)?.results).toEqual(['Error: the fuse is out'])
    expect(results).toMatchObject([{ success: false, code: 'tool_error', error: 'the fuse is out' }])
    expect((messages[2] as ToolMessage).tool_call_id).toBe((messages[1] as AIMessage).tool_calls?.[0]?.id)
    expect(text).toBe('The fuse is out')
  })

  it('[C11] an unknown tool is answered, logged as a warning, and the model goes on', async () => {
    const { client, sent, logger } = await start([{ calls: [{ name: 'lihgts' }] }, 'Sorry'])
    await client.ask('light')
    expect(sent(1).at(-1)?.results).toEqual(['Error: Unknown tool "lihgts"'])
    expect(logger.at('warn')).toMatchObject([{ fields: { tool: 'lihgts', code: 'unknown_tool' } }])
  })

  it('[C11] a tool that is not among those of the question is an unknown one, though the executor has it', async () => {
    const { client, sent, offered, logger } = await start([{ calls: [{ name: 'broken' }] }, 'Sorry'])
    const { results } = await client.ask('try it', { tools: [weather] })
    expect(offered(0).map(({ name }) => name)).toEqual(['weather'])
    expect(sent(1).at(-1)?.results).toEqual(['Error: Unknown tool "broken"'])
    expect(results).toMatchObject([
      { success: false, code: 'unknown_tool', error: "Tool 'broken' not found" },
    ])
    expect(logger.at('warn')).toHaveLength(1)
  })

  it('[C12] calls of a turn run side by side, and their results go back in the order of the calls', async () => {
    const releases: (() => void)[] = []
    const gate = defineTool<{ number: number }>({
      name: 'gate',
      description: 'Waits for all three',
      schema: { type: 'object', properties: { number: { type: 'integer' } } },
      handler: ({ number }) =>
        new Promise(resolve => {
          releases.push(() => resolve(`gate ${number}`))
          if (releases.length === 3) for (const release of releases.reverse()) release()
        }),
    })
    const calls = [1, 2, 3].map(number => ({ name: 'gate', args: { number } }))
    const { client, sent } = await start([{ calls }, 'done'], manager([gate]))
    const { results } = await client.ask('go')
    expect(results).toMatchObject([{ result: 'gate 1' }, { result: 'gate 2' }, { result: 'gate 3' }])
    expect(sent(1).at(-1)?.results).toEqual(['gate 1', 'gate 2', 'gate 3'])
  })

  it('[C12] a history with calls that have no result gets placeholders, in a copy', async () => {
    const { client, sent } = await start(['Here I am again'])
    const call = (id: string, name: string) => ({ id, name, args: {}, type: 'tool_call' as const })
    const history: BaseMessage[] = [
      new HumanMessage('weather?'),
      new AIMessage({ content: '', tool_calls: [call('a', 'weather'), call('b', 'turn')] }),
      new ToolMessage({ content: '22 degrees', tool_call_id: 'b' }),
      new ToolMessage({ content: 'of nobody', tool_call_id: 'x' }),
      new HumanMessage('are you there?'),
    ]
    const before = structuredClone(shape(history))
    await client.ask(history)
    expect(sent(0)[2]?.results).toEqual([
      'Error: No result for tool "weather": the conversation was interrupted',
      '22 degrees',
    ])
    expect(shape(history)).toEqual(before)
    expect(history).toHaveLength(5)
  })

  it('[C12] an executor that rejects still leaves a result for every call', async () => {
    const { client, sent, executor } = await start([
      { calls: [{ name: 'weather' }, { name: 'weather' }] },
      'Hm',
    ])
    vi.spyOn(executor, 'run').mockRejectedValueOnce(new Error('no memory'))
    await client.ask('weather?')
    expect(sent(1).at(-1)?.results).toEqual([
      'Error: No result for tool "weather": no memory',
      '{"temperature":22}',
    ])
  })

  it('[D01 D02 D08] offers every tool with name, description and schema, and changes none of them', async () => {
    const zodTool = langchainTool(async ({ city }: { city: string }) => city, {
      name: 'city',
      description: 'Names a city',
      schema: z.object({ city: z.string() }),
    })
    const tools = manager([turn])
    tools.addCustomTool(zodTool)
    const before = [...tools.getTools()]
    const { client, offered } = await start(['hi'], tools)
    await client.ask('hello')
    expect(offered(0)).toMatchObject([
      { name: 'turn', description: 'Turns a device on or off', schema: turn.schema },
      {
        name: 'city',
        description: 'Names a city',
        schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ])
    expect(tools.getTools()).toEqual(before)
    expect(tools.getTools()[1]).toBe(zodTool)
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
    expect(events.map(({ type, call }) => `${type} ${call.name}`)).toEqual([
      'start weather',
      'start broken',
      'end weather',
      'end broken',
    ])
    expect(events[3]).toMatchObject({ result: { code: 'tool_error' }, durationMs: expect.any(Number) })
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
