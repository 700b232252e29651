// A small model writes its call as text. With `salvage` it is run; a call that the model only explains is not.
import assert from 'node:assert/strict'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { OllamaClient } from 'toolpost/models'
import { fakeOllama } from 'toolpost/testing'

const tools = new ToolManager()
tools.addCustomTool(
  defineTool({
    name: 'get_weather',
    description: 'Current weather',
    schema: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
    handler: ({ location }) => `5 degrees in ${location}`,
    readOnly: true,
  }),
)
const executor = new ToolExecutor(tools)
const call = '{"name": "get_weather", "arguments": {"location": "Oslo"}}'
const explained = `A call of the tool looks like this:\n<tool_call>\n${call}\n</tool_call>`

// With a real Ollama: new OllamaClient({ executor, salvage: true })
const server = await fakeOllama({
  replies: [
    { text: ['Let me check.\n', '<tool', '_call>\n', call, '\n</tool_call>'] },
    'It is 5 degrees in Oslo.',
    explained,
  ],
})
const client = new OllamaClient({
  executor,
  baseUrl: server.url,
  salvage: true,
  think: false,
  keepAlive: '1h',
})

const spoken = []
const answer = await client.ask('How warm is it in Oslo?', { onToken: token => spoken.push(token) })
const explanation = await client.ask('What does a call look like?')
const [request] = server.requests
await server.close()
console.log(answer.text)
console.log(explanation.text)

assert.equal(answer.text, 'It is 5 degrees in Oslo.')
assert.equal(answer.results[0].result, '5 degrees in Oslo')
assert.equal(spoken.join(''), 'Let me check.\nIt is 5 degrees in Oslo.')
assert.match(executor.metrics.prometheus(), /toolpost_salvaged_total\{tool="get_weather"\} 1/)
assert.deepEqual([explanation.text, explanation.results], [explained, []])
assert.deepEqual(
  [request.body.think, request.body.keep_alive, request.body.options.num_ctx],
  [false, '1h', 4096],
)
