import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const TOOLS = ['echo', 'write', 'fail', 'structured', 'meta'].map(name => ({
  name,
  inputSchema: { type: 'object' as const },
  annotations: name === 'echo' ? { readOnlyHint: true } : {},
}))

function mcpServer(): Server {
  const server = new Server({ name: 'v1', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }))
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args, _meta } }) => {
    const text = { meta: JSON.stringify(_meta ?? {}), structured: 'so much' }[name] ?? args?.text ?? name
    return {
      content: [{ type: 'text' as const, text: String(text) }],
      ...(name === 'fail' && { isError: true }),
      ...(name === 'structured' && { structuredContent: { much: 5 } }),
    }
  })
  return server
}

/** A real MCP server inside the test's process: SDK v1, Streamable HTTP with sessions. */
export async function streamableServer() {
  const authorizations = new Set<string>()
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const http = createServer(async (request, response) => {
    const { authorization, 'mcp-session-id': id } = request.headers
    if (authorization) authorizations.add(authorization)
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (typeof id === 'string' && !known) return void response.writeHead(404).end('Session not found')
    if (known) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: session => void sessions.set(session, transport),
    })
    await mcpServer().connect(transport as never)
    await transport.handleRequest(request, response)
  })
  const listen = (port: number) => new Promise<void>(resolve => http.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = http.address() as AddressInfo
  const stop = async () => {
    http.closeAllConnections()
    await new Promise(resolve => http.close(resolve))
  }
  return {
    url: `http://127.0.0.1:${port}/`,
    /** The distinct Authorization headers of its requests. */
    authorizations,
    stop,
    /** Listens again on the same port, without memory of any session. */
    async restart() {
      sessions.clear()
      await listen(port)
    },
    [Symbol.asyncDispose]: stop,
  }
}
