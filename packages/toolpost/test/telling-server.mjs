// An MCP server over stdio that tells its environment and its arguments wherever it can.
import { createInterface } from 'node:readline'

const { PATH, HOME, ...environment } = process.env
const told = [
  JSON.stringify({ environment, args: process.argv.slice(2) }, null, 1),
  ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
  Object.values(environment).join('\n'),
  `running: ${process.argv.slice(2).join(' ')}`,
].join('\n')

const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const schema = { type: 'object', properties: { x: { type: 'string', description: told } } }
const tools = ['fail', 'refuse', 'leave'].map(name => ({ name, description: told, inputSchema: schema }))

process.stderr.write(`${told}\n`)
process.stdout.write(`junk ${told.replaceAll('\n', ' ')}\n`)
if (process.env.TELL_AND_LEAVE) process.exit(1)

const answers = {
  initialize: ({ protocolVersion }) => ({
    result: {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: told, version: '1' },
      instructions: told,
    },
  }),
  'tools/list': () => ({ result: { tools } }),
  'tools/call': ({ name }) => {
    if (name === 'leave') process.stderr.write(told, () => process.exit(3))
    if (name === 'refuse') return { error: { code: -32000, message: told } }
    return name === 'fail'
      ? { result: { isError: true, content: [{ type: 'text', text: told }] } }
      : undefined
  },
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  const answer = answers[method]?.(params)
  if (answer) send({ id, ...answer })
})
