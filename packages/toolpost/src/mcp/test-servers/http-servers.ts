import { randomUUID } from 'node:crypto'
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

/** A real MCP server over HTTP, inside the test's process. */
export interface TestHttpServer {
  url: string
  /** The same events as in a hostile server's journal: `call <tool>`, `cancelled`. */
  readonly events: string[]
  /** The distinct Authorization headers of its requests. */
  readonly authorizations: string[]
  /** Resolves when `event` has happened. */
  happened(event: string): Promise<void>
  /** Breaks all connections and stops listening. */
  stop(): Promise<void>
  /** Listens again on the same port, without memory of any session. */
  restart(): Promise<void>
  /** Adds a tool and reports that the tools changed. */
  addTool(name: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

interface Journal {
  events: string[]
  note(event: string): void
}

const object = { type: 'object' as const }

function toolList(names: readonly string[]) {
  const reading = { readOnlyHint: true }
  return names.map(name => ({ name, inputSchema: object, annotations: name === 'echo' ? reading : {} }))
}

/** The tools of every server below. */
async function callTool(
  name: string,
  args: Record<string, unknown>,
  context: { journal: Journal; signal: AbortSignal; meta: unknown },
) {
  context.journal.note(`call ${name}`)
  if (name === 'never') {
    await new Promise<void>(resolve => {
      context.signal.addEventListener('abort', () => resolve())
    })
    context.journal.note('cancelled')
  }
  if (name === 'fail') return { isError: true, content: [{ type: 'text' as const, text: String(args.text) }] }
  if (name === 'meta')
    return { content: [{ type: 'text' as const, text: JSON.stringify(context.meta ?? {}) }] }
  if (name === 'structured')
    return { content: [{ type: 'text' as const, text: 'so much' }], structuredContent: { much: 5 } }
  return { content: [{ type: 'text' as const, text: String(args.text ?? name) }] }
}

const NAMES = ['echo', 'write', 'never', 'fail', 'structured', 'meta']

/** SDK v1, Streamable HTTP with sessions. */
export function streamableServer(): Promise<TestHttpServer> {
  return serve(({ names, journal, onChange }) => {
    const sessions = new Map<string, StreamableHTTPServerTransport>()
    return async (request, response) => {
      const id = request.headers['mcp-session-id']
      const known = typeof id === 'string' ? sessions.get(id) : undefined
      if (typeof id === 'string' && !known) return void response.writeHead(404).end('Session not found')
      if (known) return known.handleRequest(request, response)
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: session => void sessions.set(session, transport),
      })
      const server = mcpServer(names, journal)
      onChange(() => server.sendToolListChanged())
      await server.connect(transport as never)
      await transport.handleRequest(request, response)
    }
  })
}

function mcpServer(names: readonly string[], journal: Journal): Server {
  const server = new Server({ name: 'v1', version: '1' }, { capabilities: { tools: { listChanged: true } } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: toolList(names) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) =>
    callTool(params.name, params.arguments ?? {}, { journal, signal, meta: params._meta }),
  )
  return server
}

interface Parts {
  names: string[]
  journal: Journal
  onChange(tell: () => Promise<void>): void
}

async function serve(makeHandler: (parts: Parts) => Handler): Promise<TestHttpServer> {
  const names = [...NAMES]
  const events: string[] = []
  const authorizations = new Set<string>()
  const waiting = new Set<() => void>()
  let tellers: (() => Promise<void>)[] = []
  const journal = {
    events,
    note(event: string) {
      events.push(event)
      for (const look of waiting) look()
    },
  }
  let http: HttpServer
  let port = 0
  const listen = async () => {
    tellers = []
    const handle = makeHandler({ names, journal, onChange: tell => void tellers.push(tell) })
    http = createServer((request, response) => {
      if (request.headers.authorization) authorizations.add(request.headers.authorization)
      Promise.resolve(handle(request, response)).catch(() => response.destroy())
    })
    await new Promise<void>(resolve => {
      http.listen(port, '127.0.0.1', resolve)
    })
    port = (http.address() as AddressInfo).port
  }
  const stop = async () => {
    http.closeAllConnections()
    await new Promise(resolve => http.close(resolve))
  }
  await listen()
  return {
    url: `http://127.0.0.1:${port}/`,
    events,
    get authorizations() {
      return [...authorizations]
    },
    happened: event =>
      new Promise(resolve => {
        const look = () => {
          if (!events.includes(event)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    stop,
    restart: listen,
    async addTool(name) {
      names.push(name)
      await Promise.all(tellers.map(tell => tell().catch(() => {})))
    },
    [Symbol.asyncDispose]: stop,
  }
}
