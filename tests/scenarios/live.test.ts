import { defineTool, localTools, ToolExecutor, ToolManager } from 'toolpost'
import { OllamaClient } from 'toolpost/models'
import { expect, it } from 'vitest'

/** `npm run test:live`: the same on a real Ollama, with OLLAMA_MODEL or qwen3:0.6b. */
const live = process.env.npm_lifecycle_event === 'test:live'
const LIVE_TIMEOUT_MS = 300_000

function setup() {
  const tools = new ToolManager()
  const switched: unknown[] = []
  for (const tool of localTools()) tools.addCustomTool(tool)
  tools.addCustomTool(
    defineTool({
      name: 'control_device',
      description: 'Switches a device of the home on or off',
      schema: {
        type: 'object',
        properties: {
          deviceName: { type: 'string', description: 'The name of the device' },
          action: { type: 'string', enum: ['on', 'off'] },
        },
        required: ['deviceName', 'action'],
      },
      handler: args => {
        switched.push(args)
        return 'Done: the device reported its new state.'
      },
    }),
  )
  const executor = new ToolExecutor(tools)
  return { switched, client: new OllamaClient({ executor }) }
}

it.runIf(live)(
  '[D10] a real model recognises the tools and calls one with the right argument names',
  async () => {
    const { client, switched } = setup()
    const answer = await client.ask('Turn on the device named "Switch One".', {
      timeLimitMs: LIVE_TIMEOUT_MS,
    })
    expect(switched).toContainEqual({ deviceName: expect.stringMatching(/switch one/i), action: 'on' })
    expect(answer.stopReason).toBe('answer')
    expect(answer.text).not.toBe('')
  },
  LIVE_TIMEOUT_MS,
)

it.runIf(live)(
  '[D10] a real model describes its tools when asked',
  async () => {
    const { client } = setup()
    const { text } = await client.ask('Which tools do you have? List their names, and call none.', {
      timeLimitMs: LIVE_TIMEOUT_MS,
    })
    expect(text).toMatch(/control|device|datetime|volume|search/i)
  },
  LIVE_TIMEOUT_MS,
)
