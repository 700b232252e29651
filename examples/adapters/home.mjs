// The tools of the examples, and a server that speaks OpenAI's API in place of a real model.
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { fakeOpenAi } from 'toolpost/testing'

const light = defineTool({
  name: 'light',
  description: 'Turns a light on or off',
  schema: {
    type: 'object',
    properties: { room: { type: 'string' }, state: { enum: ['on', 'off'] } },
    required: ['room', 'state'],
  },
  handler: ({ room, state }, { signal }) => ({ room, state, stopped: signal.aborted }),
})
const broken = defineTool({
  name: 'broken',
  description: 'Always fails',
  schema: { type: 'object', properties: {} },
  handler: () => {
    throw new Error('the fuse is out')
  },
})
export const executor = new ToolExecutor(new ToolManager({ tools: [light, broken] }))

/** The model calls one tool with `ON`, which is repaired, and one that fails; then it answers. */
export const server = await fakeOpenAi({
  replies: [
    { calls: [{ name: 'light', args: { room: 'hall', state: 'ON' } }, { name: 'broken' }] },
    'The light in the hall is on.',
  ],
})
export const baseURL = `${server.url}/v1`

/** What the model was told about its two calls. */
export function resultsSent() {
  const messages = server.requests[1].body.messages.filter(({ role }) => role === 'tool')
  return messages.map(({ content }) =>
    Array.isArray(content) ? content.map(part => part.text).join('') : content,
  )
}
