// Toolpost's tools in Mastra: node_modules/.bin/node mastra.mjs
import assert from 'node:assert/strict'
import { Agent } from '@mastra/core/agent'
import { toMastraTools } from 'toolpost/adapters'
import { baseURL, executor, resultsSent, server } from './home.mjs'

const agent = new Agent({
  id: 'home',
  name: 'Home',
  instructions: 'You control a home.',
  model: { id: 'fake/fake', url: baseURL, apiKey: 'none' },
  tools: toMastraTools(executor),
})
const { text } = await agent.generate('Turn on the light in the hall.')
await server.close()
console.log(text)

assert.equal(text, 'The light in the hall is on.')
const [result, failure] = resultsSent()
assert.match(result, /"state":"on"/)
assert.match(failure, /the fuse is out/)
