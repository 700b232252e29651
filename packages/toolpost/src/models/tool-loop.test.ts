import { ChatAnthropic } from '@langchain/anthropic'
import type { HumanMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { ChatOllama } from '@langchain/ollama'
import { describe, expect, it, vi } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { type ScriptedReply, scriptedModel } from '../testing/scripted-model.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { type ChatModel, ModelClient } from './model-client.ts'

const tools = new ToolManager()
tools.addCustomTool(
  defineTool<{ fails?: boolean }>({
    name: 'work',
    description: 'Works or fails',
    schema: { type: 'object', properties: { fails: { type: 'boolean' }, note: { type: 'string' } } },
    handler: ({ fails }) => {
      if (fails) throw new Error('it is broken')
      return 'worked'
    },
  }),
)
tools.addCustomTool(
  defineTool({
    name: 'wait',
    description: 'Waits for ever',
    schema: { type: 'object' },
    handler: () => new Promise(() => {}),
  }),
)
const executor = new ToolExecutor(tools)
const work = (args = {}): ScriptedReply => ({ calls: [{ name: 'work', args }] })

function clientOn(model: ReturnType<typeof scriptedModel>, more = {}) {
  const logger = recordingLogger()
  return { logger, client: new ModelClient({ model, executor, logger, ...more }) }
}

describe('limits', () => {
  it('[F43] stops after ten rounds and says so, with a last word', async () => {
    const model = scriptedModel(...Array.from({ length: 10 }, () => work()), 'That is all I know')
    const { client, logger } = clientOn(model)
    const answer = await client.ask('go')
    expect(answer).toMatchObject({
      text: 'That is all I know',
      stopReason: 'max_iterations',
      iterations: 10,
    })
    expect(model.turns.map(turn => turn.tools.length)).toEqual([...Array(10).fill(2), 0])
    expect(logger.at('warn')).toMatchObject([{ fields: { stop_reason: 'max_iterations' } }])
  })

  it('[F43] an identical call that failed three times is the last one', async () => {
    const failing = [
      work({ fails: true, note: 'a' }),
      work({ note: 'a', fails: true }),
      work({ fails: true, note: 'a' }),
    ]
    const { client } = clientOn(scriptedModel(...failing, 'I give up'))
    const answer = await client.ask('go')
    expect(answer).toMatchObject({ text: 'I give up', stopReason: 'repeated_failure', iterations: 3 })
    expect(answer.results).toHaveLength(3)
  })

  it('the time limit ends a call, whose result says so, and the history is whole', async () => {
    const clock = fakeClock()
    const { client } = clientOn(scriptedModel({ calls: [{ name: 'wait' }] }), { clock })
    let asked: ReturnType<typeof client.ask> | undefined
    await new Promise<void>(started => {
      asked = client.ask('go', { timeLimitMs: 1_000, onCall: () => started() })
    })
    await clock.advance(1_000)
    const answer = (await asked) ?? expect.fail()
    expect(answer.stopReason).toBe('time_limit')
    expect(answer.results).toMatchObject([{ code: 'cancelled' }])
    expect((answer.messages as HumanMessage[]).map(message => message.getType())).toEqual([
      'human',
      'ai',
      'tool',
      'ai',
    ])
  })
})

describe('attempts', () => {
  const busy = (status: number, headers = {}) =>
    Object.assign(new Error('busy'), { status, headers: new Headers(headers) })

  it('waits 1, 2, 4 seconds, and then has the answer', async () => {
    const clock = fakeClock()
    const model = scriptedModel({ error: busy(429) }, { error: busy(529) }, { error: busy(503) }, 'Here')
    const { client, logger } = clientOn(model, { clock })
    const asked = client.ask('go')
    for (const [attempt, delay] of [1_000, 2_000, 4_000].entries()) {
      await vi.waitFor(() => expect(clock.pending).toBe(2))
      expect(model.turns).toHaveLength(attempt + 1)
      await clock.advance(delay)
    }
    expect((await asked).text).toBe('Here')
    expect(logger.at('warn').map(({ fields }) => fields.delay_ms)).toEqual([1_000, 2_000, 4_000])
  })

  it('makes none once something has been streamed', async () => {
    const model = scriptedModel('unused')
    async function* halfAnswer() {
      yield { content: 'The light', concat: () => expect.fail() }
      throw busy(529)
    }
    vi.spyOn(model, 'bindTools').mockReturnValue({ stream: async () => halfAnswer() as never })
    const tokens: string[] = []
    const asked = clientOn(model).client.ask('go', { onToken: token => tokens.push(token) })
    await expect(asked).rejects.toMatchObject({ code: 'overloaded' })
    expect(tokens).toEqual(['The light'])
  })
})

describe('calls and messages', () => {
  it('keeps blocks that must go back as they came, such as signed thoughts', async () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: 'abc' }
    const content = [thought, { type: 'text', text: 'Let me see' }, { type: 'tool_use', id: 'a' }]
    async function* reply() {
      yield { content, tool_calls: [{ id: 'a', name: 'work', args: {} }] }
    }
    const model = scriptedModel('unused')
    const stream = vi.fn()
    stream.mockResolvedValueOnce(reply()).mockResolvedValueOnce(scriptedModel('Done').stream([]))
    vi.spyOn(model, 'bindTools').mockReturnValue({ stream })
    const { messages } = await clientOn(model).client.ask('go')
    expect(messages[1]).toMatchObject({ content: [thought, { type: 'text', text: 'Let me see' }] })
  })

  it('a LangChain chat model works as it is; one that cannot use tools says so', async () => {
    const model = new FakeListChatModel({ responses: ['Hello there'] })
    const client = new ModelClient({ model, executor })
    expect((await client.ask('hi', { tools: [] })).text).toBe('Hello there')
    const fitting: ChatModel[] = [new ChatOllama(), new ChatAnthropic({ apiKey: 'sk-test-key' })]
    expect(fitting).toHaveLength(2)
    const simple = new ModelClient({ model: { stream: messages => model.stream(messages) }, executor })
    await expect(simple.ask('hi')).rejects.toMatchObject({ code: 'no_tools' })
  })
})
