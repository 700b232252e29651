// Any LangChain chat model can use the tools through the same loop: here ChatOllama, with a fake Ollama server.
import assert from 'node:assert/strict'
import { ChatOllama } from '@langchain/ollama'
import { localTools, ToolExecutor, ToolManager } from 'toolpost'
import { ModelClient } from 'toolpost/models'
import { fakeOllama } from 'toolpost/testing'

const tools = new ToolManager()
for (const tool of localTools()) tools.addCustomTool(tool)
const executor = new ToolExecutor(tools)

// With a real Ollama: new ChatOllama({ model: 'qwen3:0.6b' })
const server = await fakeOllama({
  replies: [
    { calls: [{ name: 'math_eval', args: { expression: '12 % of 85' } }] },
    { text: ['That is ', '10.2.'] },
  ],
})
const model = new ChatOllama({ model: 'qwen3:0.6b', baseUrl: server.url })
const client = new ModelClient({ model, executor })

const answer = await client.ask('What is 12 % of 85?', { onToken: text => process.stdout.write(text) })
console.log()
await server.close()

assert.equal(answer.text, 'That is 10.2.')
assert.equal(answer.stopReason, 'answer')
assert.deepEqual(
  answer.results.map(({ tool_name, result }) => [tool_name, result]),
  [['math_eval', { result: 10.2 }]],
)
