// A server made with version 2 of the SDK. With the argument `modern` it speaks only the newest protocol.
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const tools = ['echo', 'never', 'progress', 'add_tool', 'meta'].map(name => ({
  name,
  inputSchema: name === 'echo' ? inputSchema : { type: 'object' },
}))

function createServer() {
  const server = new Server(
    { name: 'sdk-v2', version: '2.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  )
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => call(server, params, mcpReq))
  return server
}

async function call(server, { name, arguments: args }, { signal, notify, _meta }) {
  const text = value => ({ content: [{ type: 'text', text: value }] })
  if (name === 'never') {
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    process.stderr.write('was cancelled\n')
  }
  if (name === 'progress') {
    for (const progress of [1, 2])
      await notify({
        method: 'notifications/progress',
        params: { progressToken: _meta.progressToken, progress },
      })
  }
  if (name === 'meta') return text(JSON.stringify(_meta ?? {}))
  if (name === 'add_tool') {
    tools.push({ name: 'added', inputSchema: { type: 'object' } })
    await server.sendToolListChanged()
  }
  return text(args?.text ?? name)
}

serveStdio(createServer, { legacy: process.argv[2] === 'modern' ? 'reject' : 'serve' })
