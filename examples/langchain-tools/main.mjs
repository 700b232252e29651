// LangChain tools work unchanged, and get deadlines, validation and one result shape.
import assert from 'node:assert/strict'
import { DynamicTool, tool } from '@langchain/core/tools'
import { ToolExecutor, ToolManager } from 'toolpost'
import { z } from 'zod'

const convert = tool(async ({ celsius }) => celsius * 1.8 + 32, {
  name: 'to_fahrenheit',
  description: 'Converts a temperature',
  schema: z.object({ celsius: z.number() }),
})
const shout = new DynamicTool({
  name: 'shout',
  description: 'Shouts',
  func: async text => `${text.toUpperCase()}!`,
})

const tools = new ToolManager()
tools.addCustomTool(convert)
tools.addCustomTool(shout)
const executor = new ToolExecutor(tools)

const answers = [
  await executor.execute('to_fahrenheit', { celsius: 21 }),
  await executor.execute('to_fahrenheit', { celsius: 'warm' }),
  await executor.execute('shout', { message: 'hello' }),
]
console.log(answers)

assert.deepEqual(answers, [
  '69.80000000000001',
  "Error: Invalid parameters: 'celsius' must be number, got string. Required: celsius (number)",
  'HELLO!',
])
