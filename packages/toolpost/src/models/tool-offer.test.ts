import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import type { CallEvent } from '../executor/observers.ts'
import { BigResults } from '../interceptors/long-results.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { AskOptions } from './ai-client.ts'
import { ModelClient } from './model-client.ts'

/** A hundred tools, of which one opens the garage and one answers at length. */
function home() {
  const tools = new ToolManager()
  const schema = { type: 'object', properties: { fast: { type: 'boolean' } } }
  const add = (name: string, description: string, result: unknown) =>
    tools.addCustomTool(defineTool({ name, description, schema, handler: () => result }))
  for (let number = 0; number < 100; number++) add(`tool_${number}`, `Does the thing ${number}`, number)
  add('open_garage', 'Opens the door of the garage', 'opened')
  const long = Array.from({ length: 3_000 }, (_, id) => ({ id }))
  add('long_list', 'Lists everything', long)
  return new ToolExecutor(tools)
}

async function ask(model: ReturnType<typeof scriptedModel>, options: AskOptions = {}) {
  const executor = home()
  const events: CallEvent[] = []
  executor.observe(event => events.push(event))
  const answer = await new ModelClient({ model, executor }).ask('go', options)
  const ended = events.filter(({ result }) => result)
  return { answer, calls: ended.map(({ call }) => call.name), turns: model.turns.map(({ tools }) => tools) }
}

describe('a model with more tools than it should be shown', () => {
  it('is shown a search, and from the next turn on what it found', async () => {
    const model = scriptedModel(
      { calls: [{ name: 'find_tools', args: { query: 'open the garage', limit: 1 } }] },
      { calls: [{ name: 'open_garage', args: {} }] },
      'It is open',
    )
    const { turns, calls, answer } = await ask(model)
    expect(turns).toEqual([
      ['find_tools', 'call_tool'],
      ['find_tools', 'call_tool', 'open_garage'],
      ['find_tools', 'call_tool', 'open_garage'],
    ])
    expect(calls).toEqual(['find_tools', 'open_garage'])
    expect(answer.results[1]).toMatchObject({ success: true, result: 'opened' })
  })

  it('calls what it found with call_tool, and everybody sees the inner call', async () => {
    const call = { name: 'call_tool', args: { name: 'open_garage', arguments: { fast: 'true' } } }
    const { calls, answer } = await ask(scriptedModel({ calls: [call] }, 'It is open'))
    expect(calls).toEqual(['open_garage'])
    expect(answer.results).toMatchObject([
      { tool_name: 'open_garage', result: 'opened', repairs: [expect.stringContaining('fast')] },
    ])
  })

  it('is always shown what is pinned, and what was used before', async () => {
    const model = scriptedModel('Hello')
    const executor = home()
    const used = { id: 'c1', name: 'call_tool', args: { name: 'tool_7' }, type: 'tool_call' as const }
    await new ModelClient({ model, executor }).ask(
      [
        { role: 'user', content: 'first' },
        { role: 'assistant', content: '', tool_calls: [used] },
        { role: 'tool', content: '7', tool_call_id: 'c1' },
        { role: 'user', content: 'again' },
      ],
      { pin: ['tool_4?'], maxTools: 40 },
    )
    const pinned = Array.from({ length: 10 }, (_, number) => `tool_4${number}`)
    expect(model.turns[0]?.tools).toEqual(['find_tools', 'call_tool', ...pinned, 'tool_7'])
  })
})

describe('a result that is too long for a model', () => {
  const handleIn = (text: unknown) => /result:\/\/[\w-]+/.exec(String(text))?.[0]

  it('is kept, and read in parts from the next turn on, even in a later question', async () => {
    const bigResults = new BigResults({ maxTextBytes: 10_000 })
    const options = { bigResults, maxTools: 200, conversation: 'one' }
    const executor = home()
    const model = scriptedModel(
      { calls: [{ name: 'long_list', args: {} }] },
      ({ messages }) => ({
        calls: [
          { name: 'read_result', args: { handle: handleIn(messages.at(-1)?.content), path: '[2999].id' } },
        ],
      }),
      'The last is 2999',
      'Good',
    )
    const client = new ModelClient({ model, executor })
    const { messages, results } = await client.ask('go', options)
    expect(model.turns.map(({ tools }) => tools.includes('read_result'))).toEqual([false, true, true])
    expect(results[1]).toMatchObject({ success: true, result: '2999' })
    await client.ask([...messages, { role: 'user', content: 'and?' }], options)
    expect(model.turns[3]?.tools).toContain('read_result')
  })
})
