// Tools whose names and schemas Anthropic rejects are offered in a form that it accepts, and called by their own names.
import assert from 'node:assert/strict'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { AnthropicClient, fitSchema } from 'toolpost/models'
import { fakeAnthropic } from 'toolpost/testing'

const schema = {
  oneOf: [
    { properties: { $id: { type: 'integer' } }, required: ['$id'], additionalProperties: false },
    { properties: { title: { type: 'string' } }, required: ['title'], additionalProperties: false },
  ],
}
const fitted = fitSchema(schema, 'anthropic')
console.log(JSON.stringify(fitted.schema, null, 2))

const tools = new ToolManager()
tools.addCustomTool(
  defineTool({
    name: 'notes.find',
    description: 'Finds a note',
    schema,
    handler: args => `found ${JSON.stringify(args)}`,
    readOnly: true,
  }),
)
// With a real key: new AnthropicClient({ executor })
const server = await fakeAnthropic({
  replies: [{ calls: [{ name: 'notes_find', args: { _id: 7 } }] }, 'It is note 7.'],
})
const client = new AnthropicClient({ executor: new ToolExecutor(tools), apiKey: 'any', baseUrl: server.url })
const answer = await client.ask('Which note has number 7?')
const [offered] = server.requests[0].body.tools
await server.close()

assert.deepEqual(offered.input_schema, fitted.schema)
assert.deepEqual(Object.keys(offered.input_schema.properties), ['_id', 'title'])
// Validated against the original, with names mapped back: the tool got what it declares.
assert.deepEqual(answer.results[0].result, 'found {"$id":7}')
assert.equal(answer.results[0].tool_name, 'notes.find')
