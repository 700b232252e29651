import { describe, expect, it } from 'vitest'
import { MUST_NOT, MUST_SALVAGE } from '../../../test/salvage-samples.ts'
import { ToolExecutor } from '../../executor/executor.ts'
import { policy } from '../../interceptors/index.ts'
import { recordingLogger } from '../../testing/recording-logger.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { defineTool } from '../../tools/tool.ts'
import { ToolManager } from '../../tools/tool-manager.ts'
import { ModelClient } from '../model-client.ts'

const text = { type: 'string' }

/** Tools that only read, one that the policy allows, one that it asks about, and what was called. */
function home(rules: Parameters<typeof policy>[0] | 'none' = undefined) {
  const seen: { name: string; args: unknown }[] = []
  const tools = new ToolManager()
  const add = (name: string, properties: object, more: object = { readOnly: true }) =>
    tools.addCustomTool(
      defineTool({
        name,
        description: name,
        schema: { type: 'object', properties, required: Object.keys(properties).slice(0, 1) },
        handler: args => {
          seen.push({ name, args })
          return 'done'
        },
        ...more,
      }),
    )
  add('get_weather', { location: text, unit: { enum: ['C', 'F'] }, days: { type: 'integer' } })
  add('search', { query: text, limit: { type: 'integer' } })
  add('math_eval', { expression: text })
  tools.addCustomTool(
    defineTool({
      name: 'get_time',
      description: 'The time',
      schema: { type: 'object', properties: { timezone: text } },
      handler: args => void seen.push({ name: 'get_time', args }),
      readOnly: true,
    }),
  )
  add(
    'control_light',
    { device: text, action: { enum: ['on', 'off', 'dim'] }, level: { type: 'number' } },
    {},
  )
  add('delete_file', { path: text }, { destructive: true })
  const executor = new ToolExecutor(tools)
  if (rules !== 'none') executor.use(policy(rules))
  return { executor, seen }
}

interface Said {
  reply: string | readonly string[]
  thinking?: string
  question?: string
}

async function hear({ reply, thinking, question = 'What now?' }: Said, more: object = {}, setup = home()) {
  const tokens: string[] = []
  const logger = recordingLogger()
  const model =
    thinking === undefined ? scriptedModel({ text: reply }, 'Done') : thinkingModel(thinking, String(reply))
  const client = new ModelClient({ model, executor: setup.executor, logger, salvage: true, ...more })
  const ask = { origin: 'chat', onToken: (token: string) => void tokens.push(token) }
  const answer = await client.ask(question, ask)
  return { answer, tokens, logger, model, ...setup }
}

/** A model whose thoughts come beside its words, as Ollama has them. */
function thinkingModel(reasoning_content: string, content: string) {
  const turns = [{ content, additional_kwargs: { reasoning_content } }, { content: 'Done' }]
  const stream = async () =>
    (async function* () {
      yield turns.shift() as { content: string }
    })()
  return { stream, bindTools: () => ({ stream }) }
}

describe('salvage', () => {
  it('has at least 60 samples of each kind', () => {
    expect(MUST_SALVAGE.length).toBeGreaterThanOrEqual(60)
    expect(MUST_NOT.length).toBeGreaterThanOrEqual(60)
  })

  it.each(MUST_SALVAGE)('takes as a call: %$, $calls', async sample => {
    const { answer, seen } = await hear(sample)
    expect(seen).toEqual([{ name: sample.calls, args: sample.args }])
    expect(answer).toMatchObject({ text: 'Done', iterations: 2 })
    expect(JSON.stringify(answer.messages)).not.toContain('tool_call>')
  })

  it.each(MUST_NOT)('leaves as it is: $why', async ({ why, ...sample }) => {
    const { answer, seen, tokens } = await hear(sample)
    expect(seen, why).toEqual([])
    expect(answer).toMatchObject({ text: sample.reply, iterations: 1 })
    if (sample.thinking === undefined) expect(tokens.join('')).toBe(sample.reply)
  })

  const call =
    '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Oslo", "days": "3"}}\n</tool_call>'

  it('is off unless it is asked for', async () => {
    const { seen, answer } = await hear({ reply: call }, { salvage: undefined })
    expect(seen).toEqual([])
    expect(answer.text).toBe(call)
  })

  it('is logged, counted, repaired, and leaves the announcement alone in the history', async () => {
    const { answer, logger, executor, seen } = await hear({ reply: `Let me check the weather.\n${call}` })
    expect(seen).toEqual([{ name: 'get_weather', args: { location: 'Oslo', days: 3 } }])
    expect(logger.at('info')).toMatchObject([
      {
        message: 'Recovered a call from the model text',
        fields: { tool: 'get_weather', format: 'tool_call', from: 'text' },
      },
    ])
    expect(executor.metrics.prometheus()).toContain('toolpost_salvaged_total{tool="get_weather"} 1')
    expect(answer.messages[1]).toMatchObject({
      content: 'Let me check the weather.',
      tool_calls: [{ name: 'get_weather' }],
    })
  })

  it.each([1, 3, 7, 40])('is never spoken, in pieces of %i characters', async size => {
    const whole = `Let me check.\n${call}`
    const pieces = whole.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []
    const { tokens } = await hear({ reply: pieces })
    expect(tokens.join('')).toBe('Let me check.\nDone')
  })

  it('holds nothing back that cannot be a call, and all else until the end at most', async () => {
    const pieces = ['It is 5 degrees', ' in Oslo.\n', '{', 'curly', '}\n', '```js\n', 'x\n', '```']
    const { tokens } = await hear({ reply: pieces })
    expect(tokens).toEqual(pieces)
    const json = ['{"a":', ' 1}']
    expect((await hear({ reply: json })).tokens.join('')).toBe('{"a": 1}')
    const long = Array.from({ length: 70 }, () => '{'.repeat(1_000))
    const { tokens: spoken } = await hear({ reply: long })
    expect(spoken.length).toBeGreaterThan(3)
    expect(spoken.join('')).toBe(long.join(''))
  })

  it.each([
    ['a tool that the policy asks about', home(), 'delete_file', { path: 'a.txt' }, 0],
    ['a tool that it denies', home([{ tools: 'get_time', then: 'deny' }]), 'get_time', {}, 0],
    [
      'a tool that changes something, without a policy',
      home('none'),
      'control_light',
      { device: 'lamp', action: 'on' },
      0,
    ],
    [
      'a tool that changes something, allowed by the policy',
      home(),
      'control_light',
      { device: 'lamp', action: 'on' },
      1,
    ],
    ['a tool that only reads, without a policy', home('none'), 'get_time', {}, 1],
  ])('for %s', async (_what, setup, name, args, times) => {
    const reply = `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`
    const { seen, answer } = await hear({ reply }, {}, setup)
    expect(seen).toHaveLength(times)
    expect(answer.text).toBe(times === 0 ? reply : 'Done')
  })

  it('is not done for the last word, nor beside real calls', async () => {
    const { executor, seen } = home()
    const model = scriptedModel({ calls: [{ name: 'get_time' }], text: call }, call)
    const client = new ModelClient({ model, executor, salvage: true })
    await client.ask('go', { maxIterations: 1, origin: 'chat' })
    expect(seen).toEqual([{ name: 'get_time', args: {} }])
  })

  it('takes time that grows with the text, whatever it is', async () => {
    const worst = [
      '{',
      '[',
      '(',
      'print(',
      '<tool_call>',
      '"',
      "'",
      'get_time(',
      ' ',
      '\n',
      'a=',
      'a,',
      '<parameter=',
      '\n{"name":',
    ]
    for (const pump of worst) {
      const reply = pump.repeat(60_000 / pump.length)
      const started = process.cpuUsage().user
      await hear({ reply: [reply, '}'] })
      expect((process.cpuUsage().user - started) / 1_000, pump).toBeLessThan(3_000)
    }
  }, 60_000)
})
