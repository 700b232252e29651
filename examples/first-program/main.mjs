// The README's first program, and a check that it does what the README says.
import assert from 'node:assert/strict'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'

const tools = new ToolManager()
tools.addCustomTool(
  defineTool({
    name: 'set_light',
    description: 'Switches a light',
    schema: {
      type: 'object',
      properties: { room: { type: 'string' }, state: { enum: ['on', 'off'] } },
      required: ['room', 'state'],
    },
    handler: async ({ room, state }) => `The light in the ${room} is ${state}`,
  }),
)
const executor = new ToolExecutor(tools)

// What a model sent. Every call gets exactly one answer; nothing throws.
const result = await executor.run(
  { id: 'call_1', name: 'set_light', args: { room: 'hall', state: 'ON' } },
  { repair: true },
)
console.log(result) // { success: true, result: 'The light in the hall is on', tool_name: 'set_light', … }
console.log(await executor.execute('set_light', { room: 'hall' }))
// Error: Invalid parameters: missing 'state'. Required: room (string), state (one of on, off)

assert.deepEqual(
  { ...result, execution_time_ms: 0 },
  {
    success: true,
    result: 'The light in the hall is on',
    tool_name: 'set_light',
    execution_time_ms: 0,
    tool_call_id: 'call_1',
    repairs: ['state: text → "on"'],
  },
)
assert.equal(
  await executor.execute('set_light', { room: 'hall' }),
  "Error: Invalid parameters: missing 'state'. Required: room (string), state (one of on, off)",
)
