import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { defineTool, type Tool } from 'toolpost'
import { type AiClient, AnthropicClient, ModelClient, OllamaClient } from 'toolpost/models'
import { type FakeReply, fakeAnthropic, fakeOllama, scriptedModel } from 'toolpost/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { executorFor, toolThat } from './support.ts'

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
const broken = toolThat('broken', () => Promise.reject(new Error('the fuse is out')))

type Script = (FakeReply | string)[]

/** A client of Ollama, and the messages of its requests, one line per call or text. */
async function withOllama(script: Script, tools: readonly Tool[]) {
  const server = await fakeOllama({ replies: script })
  onTestFinished(() => server.close())
  const { executor, logger } = executorFor(tools)
  const client: AiClient = new OllamaClient({ executor, model: 'qwen3:0.6b', baseUrl: server.url, logger })
  const sent = (request: number) =>
    (server.requests[request]?.body.messages ?? []).flatMap(({ role, content, tool_calls = [] }) => [
      ...(content === '' ? [] : [`${role}: ${content}`]),
      ...tool_calls.map(call => `call: ${call.function.name} ${JSON.stringify(call.function.arguments)}`),
    ])
  return { client, executor, logger, sent }
}

/** The same for Anthropic. */
async function withAnthropic(script: Script, tools: readonly Tool[]) {
  const server = await fakeAnthropic({ replies: script })
  onTestFinished(() => server.close())
  const { executor, logger } = executorFor(tools)
  const options = { executor, model: 'claude-haiku-4-5', apiKey: 'sk-test', baseUrl: server.url, logger }
  const client: AiClient = new AnthropicClient(options)
  const sent = (request: number) =>
    (server.requests[request]?.body.messages ?? []).flatMap(({ role, content }) => {
      if (typeof content === 'string') return [`${role}: ${content}`]
      return content.map(block => {
        if (block.type === 'tool_use') return `call: ${block.name} ${JSON.stringify(block.input)}`
        return block.type === 'tool_result' ? `tool: ${block.content}` : `${role}: ${block.text}`
      })
    })
  return { client, executor, logger, sent }
}

const PROVIDERS = { OllamaClient: withOllama, AnthropicClient: withAnthropic }

describe.each(Object.entries(PROVIDERS))('the tool loop of %s', (_name, provider) => {
  const start = (script: Script, tools: readonly Tool[] = [turn, weather, broken]) => provider(script, tools)

  it('[A15 A16 C01] hands every call of the model to the executor', async () => {
    const { client, executor, sent } = await start([
      { calls: [{ name: 'turn', args: { device: 'lamp', state: 'on' } }, { name: 'weather' }] },
      'The lamp is on',
    ])
    const run = vi.spyOn(executor, 'run')
    const { text, results, iterations, stopReason } = await client.ask('light please')
    expect(run.mock.calls.map(([call]) => call)).toMatchObject([
      { name: 'turn', args: { device: 'lamp', state: 'on' } },
      { name: 'weather', args: {} },
    ])
    expect(results).toMatchObject([
      { success: true, result: 'lamp is on', tool_name: 'turn' },
      { success: true, result: { temperature: 22 }, tool_name: 'weather' },
    ])
    expect(sent(1)).toContain('tool: lamp is on')
    expect({ text, iterations, stopReason }).toEqual({
      text: 'The lamp is on',
      iterations: 2,
      stopReason: 'answer',
    })
  })

  it('[C06 C07] reads calls from tool_calls: an id of its own, a name, arguments as an object', async () => {
    const call = { name: 'weather', args: { place: 'Oslo' } }
    const { client, executor } = await start([{ calls: [call, call] }, 'done'])
    const run = vi.spyOn(executor, 'run')
    const { messages } = await client.ask('weather?')
    const { tool_calls = [] } = messages[1] as AIMessage
    expect(Array.isArray(tool_calls)).toBe(true)
    expect(run.mock.calls.map(([asked]) => asked)).toEqual(
      tool_calls.map(({ id }) => ({ id, name: 'weather', args: { place: 'Oslo' } })),
    )
    const ids = tool_calls.map(({ id }) => id)
    expect(ids).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)])
    expect(new Set(ids).size).toBe(2)
  })

  it('[C06] takes text that looks like a call of Qwen as text', async () => {
    const prose = 'You could send {"name": "turn", "arguments": {"device": "lamp", "state": "on"}} yourself.'
    const { client, executor } = await start([prose])
    const run = vi.spyOn(executor, 'run')
    expect((await client.ask('how would you do it?')).text).toBe(prose)
    expect(run).not.toHaveBeenCalled()
  })

  it('[C02 C08] keeps AIMessage({content, tool_calls}) and ToolMessage({content, tool_call_id})', async () => {
    const { client } = await start([
      { text: 'Let me see', calls: [{ name: 'weather', args: { place: 'Oslo' } }] },
      'It is 22 degrees',
    ])
    const { messages } = await client.ask('weather?')
    const [question, request, result, answer] = messages as [HumanMessage, AIMessage, ToolMessage, AIMessage]
    expect(messages).toHaveLength(4)
    expect(question).toBeInstanceOf(HumanMessage)
    expect(question.content).toBe('weather?')
    expect(request).toBeInstanceOf(AIMessage)
    expect(request).toMatchObject({
      content: 'Let me see',
      tool_calls: [{ name: 'weather', args: { place: 'Oslo' } }],
    })
    expect(result).toBeInstanceOf(ToolMessage)
    expect(result.tool_call_id).toBe(request.tool_calls?.[0]?.id)
    expect(result.content).toBe('{"temperature":22}')
    expect(answer).toBeInstanceOf(AIMessage)
    expect(answer).toMatchObject({ content: 'It is 22 degrees', tool_calls: [] })
  })

  it('[C03] turns results into text: strings, objects as JSON, the text of [text, artifacts]', async () => {
    const reading = toolThat('reading', async () => [
      [{ type: 'text', text: '21.5 °C' }],
      [{ type: 'image', data: 'AAAA' }],
    ])
    const calls = [
      { name: 'turn', args: { device: 'lamp', state: 'on' } },
      { name: 'weather' },
      { name: 'reading' },
    ]
    const adapted = { ...reading, responseFormat: 'content_and_artifact' }
    const { client, sent } = await start([{ calls }, 'done'], [turn, weather, adapted])
    const { messages } = await client.ask('all of it')
    const results = messages.filter(message => message instanceof ToolMessage)
    expect(results.map(({ content }) => content)).toEqual(['lamp is on', '{"temperature":22}', '21.5 °C'])
    expect(sent(1).slice(-3)).toEqual(['tool: lamp is on', 'tool: {"temperature":22}', 'tool: 21.5 °C'])
  })

  it('[C09] sends the whole history in every turn', async () => {
    const { client, sent } = await start([
      { calls: [{ name: 'weather', args: { place: 'Oslo' } }] },
      { text: 'Cold', calls: [{ name: 'turn', args: { device: 'heater', state: 'on' } }] },
      'The heater is on',
    ])
    const first = ['user: make it warm', 'call: weather {"place":"Oslo"}', 'tool: {"temperature":22}']
    const { messages, iterations } = await client.ask('make it warm')
    expect(iterations).toBe(3)
    expect(sent(0)).toEqual(first.slice(0, 1))
    expect(sent(1)).toEqual(first)
    expect(sent(2)).toEqual([
      ...first,
      'assistant: Cold',
      'call: turn {"device":"heater","state":"on"}',
      'tool: heater is on',
    ])
    expect(messages).toHaveLength(6)
  })

  it('[C09] continues a conversation from the messages of the last answer', async () => {
    const { client, sent } = await start([{ calls: [{ name: 'weather' }] }, 'Warm', 'Still warm'])
    const { messages } = await client.ask('weather?')
    await client.ask([...messages, { role: 'user', content: 'and now?' }])
    expect(messages).toHaveLength(4)
    expect(sent(2)).toEqual([
      'user: weather?',
      'call: weather {}',
      'tool: {"temperature":22}',
      'assistant: Warm',
      'user: and now?',
    ])
  })

  it('[C10] answers a failed tool with its message, and the model continues', async () => {
    const { client, sent } = await start([{ calls: [{ name: 'broken' }] }, 'I am sorry, the fuse is out'])
    const { text, messages } = await client.ask('try it')
    const [, request, result] = messages as [HumanMessage, AIMessage, ToolMessage]
    expect(result).toBeInstanceOf(ToolMessage)
    expect(result.content).toBe('Error: the fuse is out')
    expect(result.tool_call_id).toBe(request.tool_calls?.[0]?.id)
    expect(sent(1).at(-1)).toBe('tool: Error: the fuse is out')
    expect(text).toBe('I am sorry, the fuse is out')
  })

  it('[C11] answers an unknown tool, logs a warning, and the conversation continues', async () => {
    const { client, logger, sent } = await start([{ calls: [{ name: 'lihgts' }] }, 'I have no lights'])
    const { text, messages } = await client.ask('light')
    const [, request, result] = messages as [HumanMessage, AIMessage, ToolMessage]
    expect(result.content).toBe('Error: Unknown tool "lihgts"')
    expect(result.tool_call_id).toBe(request.tool_calls?.[0]?.id)
    expect(sent(1).at(-1)).toBe('tool: Error: Unknown tool "lihgts"')
    expect(logger.at('warn')).toMatchObject([{ fields: { tool: 'lihgts' } }])
    expect(text).toBe('I have no lights')
  })

  it('[C12] returns the results of a turn in the order of its calls', async () => {
    const releases: (() => void)[] = []
    // The last call is answered first, and none before all of them run.
    const gate = defineTool<{ number: number }>({
      name: 'gate',
      description: 'Waits for all three calls',
      schema: { type: 'object', properties: { number: { type: 'integer' } } },
      handler: ({ number }) =>
        new Promise(resolve => {
          releases.unshift(() => resolve(`gate ${number}`))
          if (releases.length === 3) for (const release of releases) release()
        }),
    })
    const calls = [1, 2, 3].map(number => ({ name: 'gate', args: { number } }))
    const { client, sent } = await start([{ calls }, 'done'], [gate])
    const { results } = await client.ask('go')
    expect(results).toMatchObject([{ result: 'gate 1' }, { result: 'gate 2' }, { result: 'gate 3' }])
    expect(sent(1).slice(-3)).toEqual(['tool: gate 1', 'tool: gate 2', 'tool: gate 3'])
  })

  it('[C12] fills a missing result with a placeholder that says why', async () => {
    const { client, executor, sent } = await start([
      { calls: [{ name: 'weather' }, { name: 'weather' }] },
      'Hm',
    ])
    vi.spyOn(executor, 'run').mockRejectedValueOnce(new Error('out of memory'))
    const { text } = await client.ask('weather?')
    expect(sent(1).slice(-2)).toEqual([
      'tool: Error: No result for tool "weather": out of memory',
      'tool: {"temperature":22}',
    ])
    expect(text).toBe('Hm')
  })
})

describe('the tools of a question', () => {
  it('[C11] are the only ones that its calls can find', async () => {
    const model = scriptedModel({ calls: [{ name: 'broken' }] }, 'Sorry')
    const { executor } = executorFor([weather, broken])
    const { results } = await new ModelClient({ model, executor }).ask('try it', { tools: [weather] })
    expect(model.turns[0]?.tools).toEqual(['weather'])
    expect(results).toMatchObject([{ code: 'unknown_tool', error: "Tool 'broken' not found" }])
  })
})

describe('a history that the caller passes in', () => {
  it('[C12] gets placeholders for missing results, in a copy', async () => {
    const model = scriptedModel('Here I am again')
    const { executor } = executorFor([weather, turn])
    const client = new ModelClient({ model, executor })
    const call = (id: string, name: string) => ({ id, name, args: {}, type: 'tool_call' as const })
    const history: BaseMessage[] = [
      new HumanMessage('weather?'),
      new AIMessage({ content: '', tool_calls: [call('a', 'weather'), call('b', 'turn')] }),
      new ToolMessage({ content: 'lamp is on', tool_call_id: 'b' }),
      new HumanMessage('are you there?'),
    ]
    const before = [...history]
    await client.ask(history)
    const sent = model.turns[0]?.messages.map(({ content, tool_call_id }) => [tool_call_id, content])
    expect(sent).toEqual([
      [undefined, 'weather?'],
      [undefined, ''],
      ['a', expect.stringMatching(/^Error: No result for tool "weather": \S/)],
      ['b', 'lamp is on'],
      [undefined, 'are you there?'],
    ])
    expect(history).toEqual(before)
  })
})
