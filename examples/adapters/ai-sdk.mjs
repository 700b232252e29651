// Toolpost's tools in the Vercel AI SDK: node_modules/.bin/node ai-sdk.mjs
import assert from 'node:assert/strict'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount } from 'ai'
import { toAiSdkTools } from 'toolpost/adapters'
import { baseURL, executor, resultsSent, server } from './home.mjs'

const provider = createOpenAICompatible({ name: 'fake', baseURL })
const { text, steps } = await generateText({
  model: provider('fake'),
  prompt: 'Turn on the light in the hall.',
  tools: toAiSdkTools(executor),
  stopWhen: isStepCount(5),
})
await server.close()
console.log(text)

assert.equal(text, 'The light in the hall is on.')
const [result, failure] = steps[0].content.filter(
  ({ type }) => type === 'tool-result' || type === 'tool-error',
)
assert.deepEqual(result.output, { room: 'hall', state: 'on', stopped: false })
assert.equal(failure.error.message, 'the fuse is out')
assert.deepEqual(resultsSent(), ['{"room":"hall","state":"on","stopped":false}', 'Error: the fuse is out'])
