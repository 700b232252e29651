// The gateway against bare servers, over real connections on loopback: `POST /api/tools/echo/call` against a Hono route
// that parses and returns the same body, and `/mcp` against the SDK's own server with the same tool.
// This process generates the load; a child runs all servers, and only one of them is under load at a time.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createGateway } from '../../packages/toolpost/dist/gateway/index.js'
import { defineTool, ToolExecutor, ToolManager } from '../../packages/toolpost/dist/index.js'
import { printGoals, printTable, times, whole } from './report.mjs'
import { interleave, median, ratio } from './rounds.mjs'

const CONNECTIONS = 32
const SLICE_MS = 400
const WARM_UP_ROUNDS = 3
const ROUNDS = 15
const ARGS = { text: 'hello', level: 5 }
const TOKEN = 'a-token-as-every-user-has'
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

if (process.argv[2] === '--servers') await serveAll()
else await measureAll()

/** The child: every contender on its own port, all set up like the server of `toolpost up`. */
async function serveAll() {
  // The product's versions, not those of a peer.
  const product = createRequire(new URL('../../packages/toolpost/package.json', import.meta.url))
  const { serve } = product('@hono/node-server')
  const { Hono } = product('hono')
  const { z } = product('zod')
  const sdk = product('@modelcontextprotocol/server')

  const bare = new Hono()
  bare.post('/api/tools/:name/call', async c => c.json(await c.req.json()))

  const tools = new ToolManager()
  const properties = { text: { type: 'string' }, level: { type: 'integer' } }
  const schema = { type: 'object', properties, required: ['text'] }
  const description = 'Returns its arguments'
  tools.addCustomTool(defineTool({ name: 'echo', description, schema, handler: args => args }))
  const gateway = createGateway({ token: TOKEN, executor: new ToolExecutor(tools) })

  const inputSchema = z.object({ text: z.string(), level: z.number().int().optional() })
  const content = args => ({ content: [{ type: 'text', text: JSON.stringify(args) }] })
  const highLevel = sdk.createMcpHandler(() => {
    const server = new sdk.McpServer({ name: 'bare', version: '1' })
    server.registerTool('echo', { description, inputSchema }, content)
    return server
  })
  const lowLevel = sdk.createMcpHandler(() => {
    const server = new sdk.Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/call', ({ params }) => content(params.arguments))
    return server
  })
  const mounted = handler => new Hono().all('/mcp', c => handler.fetch(c.req.raw))
  const apps = { bare, gateway, highLevel: mounted(highLevel), lowLevel: mounted(lowLevel) }
  const ports = {}
  for (const [name, app] of Object.entries(apps)) {
    const server = serve({ fetch: (request, env) => app.fetch(request, env), port: 0, hostname: '127.0.0.1' })
    if (!server.listening) await once(server, 'listening')
    ports[name] = server.address().port
  }
  process.send(ports)
  process.once('disconnect', () => process.exit())
}

async function measureAll() {
  const child = fork(fileURLToPath(import.meta.url), ['--servers'])
  const [ports] = await once(child, 'message')
  // Sent to every contender; only the gateway checks it.
  const authorization = `Bearer ${TOKEN}`
  const api = { path: '/api/tools/echo/call', body: JSON.stringify(ARGS), headers: { authorization } }
  const params = { name: 'echo', arguments: ARGS, _meta: META }
  const names = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
  const mcp = {
    path: '/mcp',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    headers: { authorization, accept: 'application/json, text/event-stream', ...names },
  }
  const contenders = [
    { id: 'bare', title: 'bare Hono route', port: ports.bare, ...api },
    { id: 'call', title: 'POST /api/tools/echo/call', port: ports.gateway, ...api },
    { id: 'highLevel', title: "the SDK's McpServer", port: ports.highLevel, ...mcp },
    { id: 'lowLevel', title: "the SDK's low-level Server, nothing checked", port: ports.lowLevel, ...mcp },
    { id: 'mcp', title: '/mcp', port: ports.gateway, ...mcp },
  ]
  for (const contender of contenders) await verify(contender)
  const rounds = { warmUpRounds: WARM_UP_ROUNDS, rounds: ROUNDS }
  const taken = await interleave({ contenders, ...rounds, measure: requestsASecond })
  report(Object.fromEntries([...taken].map(([{ id }, rates]) => [id, rates])), contenders)
  child.disconnect()
}

async function verify({ port, path, body, headers: given, title }) {
  const headers = { 'content-type': 'application/json', ...given }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body, headers })
  const text = await response.text()
  assert.equal(response.status, 200, `${title}: ${text}`)
  const said = JSON.parse(text)
  const value = said.result?.content ? JSON.parse(said.result.content[0].text) : (said.result ?? said)
  assert.deepEqual(value, ARGS, title)
}

/** As many requests as fit into a slice, one at a time on each connection. */
async function requestsASecond(contender) {
  const before = performance.now()
  const until = before + SLICE_MS
  const counts = await Promise.all(Array.from({ length: CONNECTIONS }, () => keepAsking(contender, until)))
  return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - before)) * 1_000
}

/** Raw HTTP/1.1 on one connection: a client that costs little compared with the server. */
function keepAsking({ port, path, body, headers = {} }, until) {
  const own = { host: `127.0.0.1:${port}`, 'content-length': Buffer.byteLength(body) }
  const all = Object.entries({ ...own, 'content-type': 'application/json', ...headers })
  const lines = all.map(([name, value]) => `${name}: ${value}`)
  const request = [`POST ${path} HTTP/1.1`, ...lines, '', body].join('\r\n')
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.setEncoding('latin1').setNoDelay()
    let count = 0
    let text = ''
    socket.on('error', reject)
    socket.on('data', chunk => {
      text += chunk
      if (!isWhole(text)) return
      text = ''
      count++
      if (performance.now() < until) socket.write(request)
      else socket.end(() => resolve(count))
    })
  })
}

function isWhole(text) {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return false
  if (!text.startsWith('HTTP/1.1 200')) throw new Error(text)
  const length = /content-length: (\d+)/i.exec(text)?.[1]
  if (length === undefined) return text.endsWith('0\r\n\r\n')
  return text.length >= head + 4 + Number(length)
}

function report(rates, contenders) {
  const rows = contenders.map(({ id, title, path }) => {
    const reference = rates[path === '/mcp' ? 'highLevel' : 'bare']
    return [title, whole(median(rates[id])), times(ratio(rates[id], reference))]
  })
  printTable(['', 'requests per second', '× its reference (10–90 % of rounds)'], rows)
  const call = ratio(rates.call, rates.bare)
  const mcp = ratio(rates.mcp, rates.highLevel)
  printGoals([
    { goal: 'a call over HTTP ≥ 0.75 × the bare route', measured: times(call), reached: call.median >= 0.75 },
    { goal: "/mcp ≥ 4 × the SDK's own server", measured: times(mcp), reached: mcp.median >= 4 },
  ])
}
