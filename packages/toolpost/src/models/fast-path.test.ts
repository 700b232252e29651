import { describe, expect, it, vi } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { whenToolsReady, withFastPath } from './fast-path.ts'
import { ModelClient } from './model-client.ts'
import { OfflineClient } from './offline-client.ts'

const tools = new ToolManager()
const control = {
  name: 'control_zwave_device',
  description: 'Controls',
  schema: {
    type: 'object',
    properties: {
      deviceName: { type: 'string' },
      action: { enum: ['on', 'off', 'dim'] },
      level: { type: 'number', maximum: 100 },
    },
    required: ['deviceName', 'action'],
  },
  sentences: ['turn {action:on|off} {deviceName}', '[please] dim [the] {deviceName} to {level} {action=dim}'],
}
tools.addCustomTool(
  defineTool<{ deviceName: string; action: string }>({
    ...control,
    handler: ({ deviceName, action }) => {
      if (deviceName === 'ghost') throw new Error('There is no device called "ghost".')
      return `${deviceName} is ${action}.`
    },
  }),
)
const executor = new ToolExecutor(tools)

function setup(reply = 'The model speaks') {
  const model = scriptedModel(reply)
  const client = withFastPath(new OfflineClient({ executor }), new ModelClient({ model, executor }))
  return { model, client }
}

describe('the fast path', () => {
  it.each(['turn on Switch One', 'Please dim the living room light to 30 %'])(
    'answers "%s" without the model',
    async question => {
      const { client, model } = setup()
      const tokens: string[] = []
      const answer = await client.ask(question, { onToken: token => tokens.push(token) })
      expect(answer.results).toMatchObject([{ success: true }])
      expect(tokens).toEqual([answer.text])
      expect(model.turns).toHaveLength(0)
    },
  )

  it.each([
    'why is the sky blue',
    'turn on the light when the sun goes down',
    'turn on the lamp and the heater',
    'turn on the lamp that stands beside the old green sofa',
    'is it cold',
  ])('leaves "%s" to the model', async question => {
    const { client, model } = setup()
    expect((await client.ask(question)).text).toBe('The model speaks')
    expect(model.turns).toHaveLength(1)
  })

  it('leaves arguments that the tool refuses to the model, since nothing was done', async () => {
    const { client } = setup()
    const answer = await client.ask('dim the hall light to 300')
    expect(answer.text).toBe('The model speaks')
    expect(answer.results).toEqual([])
  })

  it('does not do again what may have been done', async () => {
    const { client, model } = setup()
    expect((await client.ask('turn on ghost')).text).toContain('There is no device called "ghost"')
    expect(model.turns).toHaveLength(0)
  })
})

it('whenToolsReady answers what needs no server while the servers are still being tried', async () => {
  const sentences = new OfflineClient({ executor })
  const ready = vi.fn(() => new Promise<void>(() => {}))
  const client = whenToolsReady({ client: sentences, sentences }, ready)
  expect(await client.ask('turn on Switch One')).toMatchObject({ text: 'Switch One is on.' })
  expect(ready).not.toHaveBeenCalled()
})
