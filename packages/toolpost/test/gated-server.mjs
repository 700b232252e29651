// An MCP server over stdio: `label` says which it is, `wait` notes that it waits, and answers once its gate exists.
import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [label, gate, ...names] = process.argv.slice(2)
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const tools = ['label', 'wait', ...names].map(name => ({ name, inputSchema: { type: 'object' } }))
const text = value => ({ content: [{ type: 'text', text: value }] })

function answerAtGate(id) {
  if (existsSync(gate)) send({ id, result: text(label) })
  else setTimeout(answerAtGate, 10, id)
}

const { START_GATE } = process.env
while (START_GATE && !existsSync(START_GATE)) await new Promise(resolve => setTimeout(resolve, 10))

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: label, version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name }, id) => {
    if (name !== 'wait') return text(label)
    writeFileSync(`${gate}.${label}`, '')
    return answerAtGate(id)
  },
}

createInterface({ input: process.stdin })
  .on('line', line => {
    const { id, method, params } = JSON.parse(line)
    const result = answers[method]?.(params, id)
    if (result) send({ id, result })
  })
  .on('close', () => process.exit())
