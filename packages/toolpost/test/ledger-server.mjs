// An MCP server over stdio whose tool `note` writes a line into the ledger, then answers once the gate that it was given
// exists. `look` only reads. What it was told to cancel stands in the ledger, too.
import { appendFileSync, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [ledger] = process.argv.slice(2)
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = value => ({ content: [{ type: 'text', text: value }] })
const inputSchema = { type: 'object', properties: { text: { type: 'string' }, gate: { type: 'string' } } }
const tools = [
  { name: 'note', inputSchema },
  { name: 'look', inputSchema, annotations: { readOnlyHint: true } },
]
const notes = new Map()

function answerAtGate(id, gate, value) {
  if (gate === undefined || existsSync(gate)) send({ id, result: text(value) })
  else setTimeout(answerAtGate, 10, id, gate, value)
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'ledger', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: { text: value = '', gate } }, id) => {
    appendFileSync(ledger, `${name} ${value}\n`)
    notes.set(id, value)
    answerAtGate(id, gate, `${name}: ${value}`)
  },
  'notifications/cancelled': ({ requestId }) => {
    appendFileSync(ledger, `cancelled ${notes.get(requestId)}\n`)
  },
}

createInterface({ input: process.stdin })
  .on('line', line => {
    const { id, method, params } = JSON.parse(line)
    const result = answers[method]?.(params, id)
    if (result) send({ id, result })
  })
  .on('close', () => process.exit())
