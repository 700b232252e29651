// A server whose tools want URLs visited: one before it can be called, one while it runs; and one that reports when that is
// done.
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js'

const server = new Server({ name: 'addresses', version: '1' }, { capabilities: { tools: {} } })
const inputSchema = { type: 'object' }
const address = { mode: 'url', message: 'Log in', url: 'https://login.example/start', elicitationId: 'login' }

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: ['before', 'during', 'finish', 'lies', 'dies'].map(name => ({ name, inputSchema })),
}))
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }) => {
  if (name === 'before') throw new UrlElicitationRequiredError([address])
  if (name === 'lies') throw new UrlElicitationRequiredError([{ ...address, url: 'javascript:alert(1)' }])
  if (name === 'during') return text(JSON.stringify(await server.elicitInput(address)))
  if (name === 'dies') {
    server.elicitInput(address).catch(() => {})
    process.stdin.once('end', () => process.exit())
    setTimeout(() => process.exit(1), 1_000)
    return new Promise(() => {})
  }
  await server.notification({
    method: 'notifications/elicitation/complete',
    params: { elicitationId: 'login' },
  })
  return text('told')
})
await server.connect(new StdioServerTransport())

function text(value) {
  return { content: [{ type: 'text', text: value }] }
}
