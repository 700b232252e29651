import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  type LegacyHttpHandler,
  legacyStatelessFallback,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { failure } from '../http/answers.ts'
import { MAX_MCP_SESSIONS, MCP_SESSION_IDLE_MS } from '../limits.ts'

interface LegacySession {
  server: Server
  transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
}

export interface LegacySessionsOptions {
  createServer: () => Server
  onError: (error: Error) => void
  maxSessions?: number | undefined
}

/**
 * Clients of the 2025 protocols, each with a session: only so can they cancel a call and hear that the tools changed.
 * A request without a session is answered for itself, which is all that a simple client needs.
 */
export class LegacySessions {
  readonly #options: LegacySessionsOptions
  readonly #maxSessions: number
  readonly #sessions = new Map<string, LegacySession>()
  readonly #withoutSession: LegacyHttpHandler

  constructor(options: LegacySessionsOptions) {
    this.#options = options
    this.#maxSessions = options.maxSessions ?? MAX_MCP_SESSIONS
    this.#withoutSession = legacyStatelessFallback(options.createServer, options.onError)
  }

  get size(): number {
    return this.#sessions.size
  }

  async handle(request: Request, parsedBody: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) return this.#continue(id, request, parsedBody)
    if (request.method !== 'POST') return failure(405, 'This needs a session', { allow: 'POST' })
    return isInitializeRequest(parsedBody)
      ? this.#begin(request, parsedBody)
      : this.#withoutSession(request, { parsedBody })
  }

  toolsChanged(): void {
    for (const { server } of this.#sessions.values())
      server.sendToolListChanged().catch(this.#options.onError)
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    await Promise.all(sessions.map(({ server }) => server.close().catch(this.#options.onError)))
  }

  #continue(id: string, request: Request, parsedBody: unknown): Response | Promise<Response> {
    const session = this.#sessions.get(id)
    // What the protocol says: the client begins anew.
    if (!session) return failure(404, 'There is no such session (any more): initialize again')
    session.usedAt = Date.now()
    // The last one in the map is the one used last.
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return session.transport.handleRequest(request, { parsedBody })
  }

  async #begin(request: Request, parsedBody: unknown): Promise<Response> {
    const server = this.#options.createServer()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void this.#add(id, { server, transport, usedAt: Date.now() }),
      onsessionclosed: id => void this.#sessions.delete(id),
    })
    server.onerror = this.#options.onError
    await server.connect(transport)
    return transport.handleRequest(request, { parsedBody })
  }

  #add(id: string, session: LegacySession): void {
    this.#sessions.set(id, session)
    const tooOld = Date.now() - MCP_SESSION_IDLE_MS
    for (const [oldest, { server, usedAt }] of this.#sessions) {
      if (usedAt > tooOld && this.#sessions.size <= this.#maxSessions) return
      this.#sessions.delete(oldest)
      server.close().catch(this.#options.onError)
    }
  }
}
