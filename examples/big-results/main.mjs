// A result of 300 kB would fill a model's context. The model gets both ends, the shape and a handle, and reads what it needs.
import assert from 'node:assert/strict'
import { BigResults, defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { ModelClient } from 'toolpost/models'
import { scriptedModel } from 'toolpost/testing'

const orders = Array.from({ length: 5_000 }, (_, id) => ({
  id,
  customer: `c${id % 70}`,
  total: (id * 37) % 900,
}))
const tools = new ToolManager()
tools.addCustomTool(
  defineTool({
    name: 'list_orders',
    description: 'All orders of the year',
    schema: { type: 'object' },
    readOnly: true,
    handler: () => ({ orders }),
  }),
)
const bigResults = new BigResults({ maxTextBytes: 100_000 })
const path = "max_by(orders[?customer == 'c7'], &total)"

// With a real model: new OllamaClient({ executor })
const model = scriptedModel(
  { calls: [{ name: 'list_orders', args: {} }] },
  ({ messages }) => {
    const [handle] = /result:\/\/[\w-]+/.exec(messages.at(-1).content)
    return { calls: [{ name: 'read_result', args: { handle, path } }] }
  },
  'The largest order of c7 is over 889.',
)
const client = new ModelClient({ model, executor: new ToolExecutor(tools) })
const { results, messages, text } = await client.ask('What is the largest order of c7?', { bigResults })

const [whole, part] = results
const read = messages.find(({ content }) => String(content).includes('result://')).content
console.log(`${JSON.stringify(whole.result).length} characters; the model read ${read.length} of them:`)
console.log(read.slice(read.indexOf('…')))
console.log(part.result)
console.log(text)

assert.equal(whole.result.orders.length, 5_000)
assert.ok(read.length < 10_000)
assert.match(read, /an object with orders \(list of 5,000\)/)
assert.equal(
  JSON.parse(part.result).total,
  Math.max(...orders.filter(({ customer }) => customer === 'c7').map(({ total }) => total)),
)
