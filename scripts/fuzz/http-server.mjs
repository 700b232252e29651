import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { ToolExecutor, ToolManager } from 'toolpost'
import { McpIntegration } from 'toolpost/mcp'

const TOOLS = ['echo', 'hostile'].map(name => ({
  name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
}))

const bodies = fc.oneof(
  fc.string({ maxLength: 300, unit: 'binary' }),
  fc.json(),
  fc
    .array(fc.constantFrom('data: ', 'event: message', 'id: 1', '\n', '\n\n', '{', '}', ':', 'retry: 0'), {
      maxLength: 30,
    })
    .map(parts => parts.join('')),
  fc
    .jsonValue({ maxDepth: 3 })
    .map(result => `data: ${JSON.stringify({ jsonrpc: '2.0', id: '$id', result })}\n\n`),
)

const inputs = fc.record({
  status: fc.constantFrom(200, 202, 204, 302, 400, 401, 403, 404, 409, 410, 429, 500, 502, 503),
  type: fc.constantFrom('application/json', 'text/event-stream', 'text/html', ''),
  body: bodies,
  isGzip: fc.boolean(),
  isCut: fc.boolean(),
})

/** An HTTP server that answers one tool with the fuzzed input; another tool must work afterwards. */
export const httpServerTarget = {
  name: 'http-server',
  inputs,
  async setUp() {
    const context = { answer: undefined }
    const server = createServer((request, response) => answer(request, response, context))
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    const tools = new ToolManager()
    const mcp = new McpIntegration({
      servers: { web: { url: `http://127.0.0.1:${server.address().port}/mcp` } },
    })
    mcp.start(tools)
    await mcp.ready()
    return Object.assign(context, { server, mcp, executor: new ToolExecutor(tools, { timeoutMs: 10_000 }) })
  },
  async check(input, context) {
    context.answer = input
    const hostile = await context.executor.run({ name: 'hostile', args: {} }, { timeoutMs: 200 })
    if (typeof hostile.success !== 'boolean') throw new Error('no result')
    await worksAgain(context.executor)
  },
  async tearDown({ mcp, server }) {
    await mcp.close()
    server.closeAllConnections()
    server.close()
  },
}

/** Reconnecting after an abandoned connection takes a moment. */
async function worksAgain(executor) {
  const giveUpAt = performance.now() + 10_000
  for (;;) {
    const after = await executor.run({ name: 'echo', args: {} })
    if (after.success) return
    if (after.code !== 'unavailable' || performance.now() > giveUpAt)
      throw new Error(`broken afterwards: ${after.error}`)
    await delay(20)
  }
}

async function answer(request, response, context) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  if (request.method !== 'POST') return response.writeHead(405).end()
  const message = JSON.parse(Buffer.concat(chunks).toString() || '{}')
  if (message.id === undefined) return response.writeHead(202).end()
  if (message.params?.name === 'hostile') return misbehave(response, context.answer, message.id)
  const result = { initialize, 'tools/list': () => ({ tools: TOOLS }), 'tools/call': alive }[message.method]
  const reply = result
    ? { result: result(message.params) }
    : { error: { code: -32601, message: 'Method not found' } }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply }))
}

function initialize({ protocolVersion }) {
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'web', version: '1' } }
}

function alive() {
  return { content: [{ type: 'text', text: 'alive' }] }
}

function misbehave(response, { status, type, body, isGzip, isCut }, id) {
  const text = body.replaceAll('"$id"', JSON.stringify(id))
  const bytes = isGzip ? gzipSync(text) : Buffer.from(text)
  response.writeHead(status, {
    ...(type && { 'content-type': type }),
    ...(isGzip && { 'content-encoding': 'gzip' }),
    ...(status === 302 && { location: '/elsewhere' }),
  })
  response.write(bytes.subarray(0, isCut ? bytes.length / 2 : bytes.length))
  if (isCut) response.destroy()
  else response.end()
}
