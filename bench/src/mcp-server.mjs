// A server with one tool that does nothing, written by hand: with the SDK's server, the server would be the bottleneck and
// not the client that is measured.
import { createInterface } from 'node:readline'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'bench', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'echo', description: 'Echoes', inputSchema }] }),
  'tools/call': params => ({ content: [{ type: 'text', text: String(params.arguments?.text) }] }),
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = methods[method]?.(params) ?? {}
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
})
