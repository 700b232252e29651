// An MCP server over stdio that records every write in a file, so that writes can be counted after it is killed.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const file = process.argv[2]
const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const TOOLS = [
  { name: 'write', inputSchema: schema },
  { name: 'read', inputSchema: schema, annotations: { readOnlyHint: true } },
]
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'counting', version: '1' },
  }),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ name, arguments: { n } }) => {
    if (name === 'write') appendFileSync(file, `${n}\n`)
    return { content: [{ type: 'text', text: String(n) }] }
  },
  ping: () => ({}),
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined || !ANSWERS[method]) return
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: ANSWERS[method](params) })}\n`)
})
