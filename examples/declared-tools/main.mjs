// A chat application declares its tools in JSON: a mock for development, a builtin, and one of its own services.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { declareTools, ToolExecutor, ToolManager } from 'toolpost'

const customers = [{ name: 'Ada', since: 1843 }]
const declarations = JSON.parse(await readFile(new URL('tools.json', import.meta.url), 'utf8'))
const tools = new ToolManager()
const internals = {
  customers: ({ name }) => customers.find(customer => customer.name === name) ?? 'nobody of that name',
}
for (const tool of declareTools(declarations, { internals })) tools.addCustomTool(tool)
const executor = new ToolExecutor(tools)

const answers = await Promise.all([
  executor.execute('get_weather', { location: 'Oslo' }),
  executor.execute('calculator', { expression: '12 % of 85' }),
  executor.execute('find_customer', { name: 'Ada' }),
  // An expression that never ends is stopped at its deadline, and affects no other call.
  executor.execute('calculator', { expression: 'f(n) = n < 2 ? n : f(n-1) + f(n-2); f(50)' }),
])
console.log(answers)

assert.deepEqual(answers, [
  '{"temperature":22}',
  '{"result":10.2}',
  '{"name":"Ada","since":1843}',
  "Error: Tool 'calculator' timed out after 5000 ms",
])
