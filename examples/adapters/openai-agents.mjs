// Toolpost's tools in OpenAI Agents: node_modules/.bin/node openai-agents.mjs
import assert from 'node:assert/strict'
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents'
import { toOpenAiAgentsTools } from 'toolpost/adapters'
import { baseURL, executor, resultsSent, server } from './home.mjs'

setTracingDisabled(true)
const modelProvider = new OpenAIProvider({ baseURL, apiKey: 'none', useResponses: false })
const agent = new Agent({
  name: 'Home',
  instructions: 'You control a home.',
  model: 'fake',
  tools: toOpenAiAgentsTools(executor),
})
const { finalOutput } = await new Runner({ modelProvider }).run(agent, 'Turn on the light in the hall.')
await server.close()
console.log(finalOutput)

assert.equal(finalOutput, 'The light in the hall is on.')
assert.deepEqual(resultsSent(), ['{"room":"hall","state":"on","stopped":false}', 'Error: the fuse is out'])
