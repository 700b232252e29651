// A small model on Ollama, with settings for a small machine: no thinking, and the model stays loaded for an hour.
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

// With a real Ollama: new OllamaClient({ executor, model: 'qwen3:0.6b', think: false })
const server = await fakeOllama({
  replies: [{ calls: [{ name: 'get_weather', args: { location: 'Oslo' } }] }, 'It is 5 degrees in Oslo.'],
})
const client = new OllamaClient({ executor, baseUrl: server.url, think: false, keepAlive: '1h' })
const answer = await client.ask('How warm is it in Oslo?')
const [request] = server.requests
await server.close()
console.log(answer.text)

assert.equal(answer.text, 'It is 5 degrees in Oslo.')
assert.equal(answer.results[0].result, '5 degrees in Oslo')
assert.deepEqual(
  [request.body.think, request.body.keep_alive, request.body.options.num_ctx],
  [false, '1h', 4096],
)
