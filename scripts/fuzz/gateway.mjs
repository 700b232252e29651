import fc from 'fast-check'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { createGateway } from 'toolpost/gateway'

const ADDRESS = 'http://127.0.0.1:4040'

const words = text => fc.constantFrom(...text.split(' '))
const OPEN = '/ /healthz /metrics /mcp /assets/../../package.json'
const API =
  '/api/tools /api/tools/echo/call /api/calls /api/chat /api/model /api/openapi.json /api/transcriptions'
const path = fc.oneof(words(`${OPEN} ${API} /api/servers /api/servers/x/restart`), fc.webPath())
const HEADERS = 'content-type accept origin host authorization content-length last-event-id x-timeout-ms'
const message = fc
  .record({
    jsonrpc: fc.constantFrom('2.0', '1.0'),
    id: fc.oneof(fc.nat(3), fc.jsonValue({ maxDepth: 0 })),
    method: words('initialize tools/list tools/call ping nonsense server/discover'),
    params: fc.jsonValue({ maxDepth: 2 }),
  })
  .map(value => JSON.stringify(value))

const inputs = fc.record({
  method: words('GET POST PUT DELETE OPTIONS PATCH'),
  path,
  headers: fc.dictionary(
    words(`${HEADERS} mcp-session-id mcp-protocol-version`),
    fc.oneof(
      fc.constantFrom('application/json', 'application/json, text/event-stream', ADDRESS, '1', '-1', 'x'),
      fc.string({ maxLength: 50, unit: 'grapheme-ascii' }),
    ),
  ),
  body: fc.oneof(message, fc.json({ maxDepth: 4 }), fc.string({ maxLength: 200, unit: 'binary' })),
})

/** Requests of all kinds: each gets a valid status, and the health check always works. */
export const gatewayTarget = {
  name: 'gateway',
  inputs,
  async setUp() {
    const tools = new ToolManager()
    const schema = { type: 'object' }
    tools.addCustomTool(defineTool({ name: 'echo', description: 'd', schema, handler: args => args }))
    return { gateway: createGateway({ token: false, executor: new ToolExecutor(tools) }) }
  },
  async check(input, { gateway }) {
    const request = requestOf(input)
    if (!request) return
    const response = await gateway.fetch(request)
    if (!(response.status >= 100 && response.status < 600)) throw new Error(`status ${response.status}`)
    if (response.status === 500) throw new Error(`500: ${await response.text()}`)
    await response.body?.cancel().catch(() => {})
    const health = await gateway.fetch(new Request(`${ADDRESS}/healthz`))
    if (health.status !== 200) throw new Error(`unhealthy: ${health.status}`)
  },
  tearDown: ({ gateway }) => gateway.close({ drainMs: 0 }),
}

/** `undefined` for a request that cannot even be sent. */
function requestOf({ method, path, headers, body }) {
  try {
    const hasBody = method !== 'GET' && method !== 'OPTIONS'
    return new Request(`${ADDRESS}${path}`, { method, headers, ...(hasBody && { body }) })
  } catch {
    return undefined
  }
}
