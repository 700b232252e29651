// Two hundred tools are too many to show. A model is shown a search instead, and what it found from the next turn on.
import assert from 'node:assert/strict'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { ModelClient } from 'toolpost/models'
import { scriptedModel } from 'toolpost/testing'

const tools = new ToolManager()
const add = (name, description, handler) =>
  tools.addCustomTool(defineTool({ name, description, schema: { type: 'object' }, handler }))
for (let room = 1; room <= 200; room++) add(`measure_room_${room}`, `Humidity in room ${room}`, () => '40 %')
add('open_garage', 'Opens the door of the garage', () => 'opened')
add('get_time', 'Current date and time', () => '12:00')

// With a real model: new OllamaClient({ executor })
const model = scriptedModel(
  { calls: [{ name: 'find_tools', args: { query: 'open the garage', limit: 1 } }] },
  { calls: [{ name: 'open_garage', args: {} }] },
  'The garage is open.',
)
const client = new ModelClient({ model, executor: new ToolExecutor(tools) })
const answer = await client.ask('Open the garage', { maxTools: 40, pin: ['get_time'] })
for (const { tools: offered } of model.turns) console.log(offered.join(', '))
console.log(answer.results[0].result)
console.log(answer.text)

assert.deepEqual(model.turns[0].tools, ['find_tools', 'call_tool', 'get_time'])
assert.ok(model.turns.at(-1).tools.includes('open_garage'))
assert.match(answer.results[0].result, /^1 of 202 tools.*\n- open_garage\(/)
assert.equal(answer.results[1].result, 'opened')
