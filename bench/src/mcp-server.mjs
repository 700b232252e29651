// A server with one tool that does nothing, so that only the client's side is measured.
import { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } })
const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
server.setRequestHandler('tools/list', () => ({
  tools: [{ name: 'echo', description: 'Echoes', inputSchema }],
}))
server.setRequestHandler('tools/call', ({ params }) => ({
  content: [{ type: 'text', text: String(params.arguments?.text) }],
}))
await server.connect(new StdioServerTransport())
