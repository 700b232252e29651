import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../../executor/executor.ts'
import { silentLogger } from '../../logging/logger.ts'
import { recordingLogger } from '../../testing/recording-logger.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { localTools } from '../../tools/local-tools.ts'
import { defineTool, type Tool } from '../../tools/tool.ts'
import { ToolManager } from '../../tools/tool-manager.ts'
import type { CallNotice } from '../ai-client.ts'
import { ModelClient } from '../model-client.ts'
import { OfflineClient } from './offline-client.ts'

function setup(...more: Tool[]) {
  const tools = new ToolManager()
  for (const tool of [...localTools(), ...more]) tools.addCustomTool(tool)
  const logger = recordingLogger()
  const executor = new ToolExecutor(tools, { logger })
  return { tools, executor, logger, client: new OfflineClient({ executor, logger }) }
}

const lamp = defineTool<{ state: string }>({
  name: 'lamp',
  description: 'The lamp',
  schema: {
    type: 'object',
    properties: { state: { enum: ['on', 'off'] }, level: { type: 'integer', maximum: 100 } },
    required: ['state'],
  },
  sentences: ['turn [the] lamp {state}', 'lamp {level} {state=on}', 'turn [the'],
  handler: ({ state }) => ({ text: `The lamp is ${state}` }),
})

describe('OfflineClient', () => {
  it('calls the tool and phrases its answer, with the same fields as a model', async () => {
    const { client } = setup(lamp)
    const tokens: string[] = []
    const events: CallNotice[] = []
    const answer = await client.ask('Turn the lamp on!', {
      onToken: token => tokens.push(token),
      onCall: event => events.push(event),
    })
    expect(answer).toMatchObject({ text: 'The lamp is on.', iterations: 1, stopReason: 'answer' })
    expect(answer.results).toMatchObject([{ success: true, tool_name: 'lamp' }])
    expect(answer.messages.map(message => (message as { role: string }).role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
    expect(tokens).toEqual(['The lamp is on.'])
    expect(events.map(event => event.type)).toEqual(['start', 'end'])
  })

  it('answers a calculation and a time', async () => {
    const { client } = setup()
    expect((await client.ask('what is 12 % of 85')).text).toBe('The result is 10.2.')
    expect((await client.ask('what time is it in Tokyo')).text).toMatch(/^It is \d\d:\d\d on .* in Tokyo\.$/)
  })

  it('says that there is no tool for something only if none has a sentence about it', async () => {
    const weather = defineTool({
      name: 'weather',
      description: 'The weather',
      schema: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
      sentences: ['weather in {location}'],
      handler: () => 'sunny',
    })
    const said = 'will it rain, and what is the weather in Paris tomorrow and on Sunday'
    expect((await setup().client.ask('what is the weather in Paris')).text).toContain('no tool for that here')
    const { client } = setup(weather)
    for (const question of ['weather in paris tomorrow', said]) {
      const { text, results } = await client.ask(question)
      expect(text).not.toContain('no tool for that')
      expect(results).toEqual([])
    }
    expect((await client.ask('set an alarm for six')).text).toContain('no tool for that here')
  })

  it('says in one sentence what failed', async () => {
    const { client } = setup(lamp)
    const answer = await client.ask('lamp 150')
    expect(answer.results).toMatchObject([{ code: 'invalid_arguments' }])
    expect(answer.text).toMatch(/^That did not work: Invalid parameters: 'level' must be .*100.*\.$/)
  })

  it('offers what is near when nothing fits, and where to ask when nothing is near', async () => {
    const { client } = setup(lamp)
    const near = await client.ask('make the lamp sparkle')
    expect(near).toMatchObject({ results: [], iterations: 0 })
    expect(near.text).toBe('I did not understand that. You can say "turn lamp …" or "lamp …".')
    const far = await client.ask('abracadabra')
    expect(far.text).toBe('I did not understand that. Ask me what I can do.')
    const nobody = new OfflineClient({ executor: new ToolExecutor(new ToolManager()) })
    expect((await nobody.ask('abracadabra')).text).toContain('no tool here')
  })

  it('warns of a sentence that cannot be read, and uses the others', async () => {
    const { client, logger } = setup(lamp)
    expect((await client.ask('turn lamp off')).text).toBe('The lamp is off.')
    expect(logger.at('warn')).toMatchObject([
      {
        fields: {
          tool: 'lamp',
          reason: "The sentence 'turn [the' has a bracket without a matching ']', at character 6",
        },
      },
    ])
  })

  it('knows the tools of the Z-Wave server, under another name too', async () => {
    const { tools, client } = setup(
      defineTool({ name: 'control_zwave_device', description: 'Mine', schema: {}, handler: () => 'mine' }),
    )
    const schema = { type: 'object', properties: { deviceName: { type: 'string' } } }
    tools.addMcpTools(
      [{ name: 'get_device_sensor_data', description: 'Reads', schema, invoke: () => '21.5 °C' }],
      { server: 'zwave' },
    )
    tools.addCustomTool(
      defineTool({ name: 'get_device_sensor_data', description: 'Mine', schema: {}, handler: () => 'mine' }),
    )
    tools.remove('get_device_sensor_data')
    const answer = await client.ask('read Temp Sensor 1')
    expect(answer.results).toMatchObject([{ tool_name: 'zwave__get_device_sensor_data' }])
    expect(answer.text).toBe('21.5 °C.')
  })

  it('takes the last message of a conversation, which is not changed, and its answer goes on with a model', async () => {
    const { client, executor } = setup(lamp)
    const history = Object.freeze([
      { role: 'user' as const, content: 'hello' },
      { role: 'assistant' as const, content: 'hi' },
      { role: 'user' as const, content: 'turn lamp on' },
    ])
    const { messages } = await client.ask(history)
    expect(messages.slice(0, 3)).toEqual(history)
    const model = scriptedModel('It is on')
    await new ModelClient({ model, executor }).ask([...messages, { role: 'user', content: 'is it on?' }])
    expect(model.turns[0]?.messages.map(message => message.getType())).toEqual(
      'human ai human ai tool ai human'.split(' '),
    )
  })

  it('refuses an empty question, and can be stopped', async () => {
    const { client } = setup(lamp)
    await expect(client.ask(' ')).rejects.toMatchObject({ code: 'empty_question' })
    await expect(client.ask([])).rejects.toMatchObject({ code: 'empty_question' })
    await expect(client.ask('turn lamp on', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'stopped',
    })
  })

  it('takes no notice of a request of a thousand words', () => {
    expect(setup(lamp).client.match('turn the lamp on '.repeat(300))).toBeUndefined()
  })

  it('only uses the tools of the question', async () => {
    const { client } = setup(lamp)
    expect(client.match('turn lamp on', { tools: [] })).toBeUndefined()
  })

  it('answers whatever its listeners do, and logs that once', async () => {
    const { client, logger } = setup(lamp)
    const broken = () => {
      throw new Error('broken listener')
    }
    const answer = await client.ask('turn lamp on', { onCall: broken, onToken: async () => broken() })
    expect(answer).toMatchObject({ text: 'The lamp is on.', results: [{ success: true }] })
    await Promise.resolve()
    const failures = logger.at('warn').filter(({ message }) => message === 'An ask() callback failed')
    expect(failures).toHaveLength(2)
  })

  it('answers if its listener throws what has no text, and if its logger throws as well', async () => {
    const broken = () => {
      throw Object.create(null)
    }
    const logger = { ...silentLogger, warn: broken, child: broken, isLevelEnabled: () => true }
    const client = new OfflineClient({ executor: setup(lamp).executor, logger })
    const answer = await client.ask('turn lamp on', { onCall: broken, onToken: broken })
    expect(answer.text).toBe('The lamp is on.')
  })
})
