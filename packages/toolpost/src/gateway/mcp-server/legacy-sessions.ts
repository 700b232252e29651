import { randomUUID } from 'node:crypto'
import {
  type AuthInfo,
  isInitializeRequest,
  type LegacyHttpHandler,
  legacyStatelessFallback,
  type Server,
} from '@modelcontextprotocol/server'
import { DEFAULT_CLIENT } from '../client.ts'
import { MAX_MCP_SESSIONS, MCP_SESSION_IDLE_MS } from '../limits.ts'
import { type OfferedList, sendListChanged } from './list-changes.ts'
import { rpcFailure } from './rpc-failure.ts'
import { SessionTransport } from './session-transport.ts'

interface LegacySession {
  /** The session's owner; for anyone else it does not exist. */
  clientId: string
  server: Server
  transport: SessionTransport
}

/** A message and its sender. */
interface ClientMessage {
  clientId: string
  parsedBody: unknown
}

/** The client, in the form the SDK passes on. Tokens stay where they were checked. */
export function authInfoOf(clientId: string): AuthInfo {
  return { token: '', clientId, scopes: [] }
}

export interface LegacySessionsOptions {
  createServer: (context: { authInfo?: AuthInfo }) => Server
  onError: (error: Error) => void
  maxSessions?: number | undefined
}

/**
 * Sessions of clients with a 2025 protocol: without one, they cannot cancel a call or be notified that the tools changed.
 * A request without a session is handled on its own, which is all that a simple client needs.
 */
export class LegacySessions {
  readonly #options: LegacySessionsOptions
  readonly #maxSessions: number
  /** The least recently used first. */
  readonly #sessions = new Map<string, LegacySession>()
  readonly #withoutSession: LegacyHttpHandler
  #beginning = 0

  constructor(options: LegacySessionsOptions) {
    this.#options = options
    this.#maxSessions = options.maxSessions ?? MAX_MCP_SESSIONS
    this.#withoutSession = legacyStatelessFallback(options.createServer, options.onError)
  }

  get size(): number {
    return this.#sessions.size
  }

  has(id: string): boolean {
    return this.#sessions.has(id)
  }

  async handle(request: Request, parsedBody: unknown, clientId = DEFAULT_CLIENT): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) return this.#continue(id, request, { clientId, parsedBody })
    if (request.method !== 'POST')
      return rpcFailure(405, 'Method not allowed without a session', { headers: { allow: 'POST' } })
    return isInitializeRequest(parsedBody)
      ? this.#begin(request, { clientId, parsedBody })
      : this.#withoutSession(request, { parsedBody, authInfo: authInfoOf(clientId) })
  }

  tellChanged(kind: OfferedList): void {
    for (const { server } of this.#sessions.values())
      sendListChanged(server, kind).catch(this.#options.onError)
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    await Promise.all(sessions.map(({ server }) => server.close().catch(this.#options.onError)))
  }

  #continue(
    id: string,
    request: Request,
    { clientId, parsedBody }: ClientMessage,
  ): Response | Promise<Response> {
    const session = this.#sessions.get(id)
    // As the protocol requires: the client starts over.
    if (session?.clientId !== clientId) return rpcFailure(404, 'Session not found: initialize again')
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return session.transport.handleRequest(request, { parsedBody })
  }

  async #begin(request: Request, message: ClientMessage): Promise<Response> {
    this.#makeRoom()
    if (this.#sessions.size + this.#beginning >= this.#maxSessions) {
      const { id } = message.parsedBody as { id: string | number }
      return rpcFailure(503, 'Too many sessions: try again later', { id, headers: { 'retry-after': '5' } })
    }
    this.#beginning++
    try {
      return await this.#connect(request, message)
    } finally {
      this.#beginning--
    }
  }

  async #connect(request: Request, { clientId, parsedBody }: ClientMessage): Promise<Response> {
    const server = this.#options.createServer({ authInfo: authInfoOf(clientId) })
    const transport = new SessionTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void this.#sessions.set(id, { clientId, server, transport }),
      onsessionclosed: id => void this.#sessions.delete(id),
    })
    server.onerror = this.#options.onError
    await server.connect(transport)
    return transport.handleRequest(request, { parsedBody })
  }

  /** Sessions with a running call or a listening client always stay. */
  #makeRoom(): void {
    const tooOld = Date.now() - MCP_SESSION_IDLE_MS
    for (const [id, { server, transport }] of this.#sessions) {
      const isFull = this.#sessions.size + this.#beginning >= this.#maxSessions
      if (!isFull && transport.usedAt > tooOld) return
      if (transport.isBusy) continue
      this.#sessions.delete(id)
      server.close().catch(this.#options.onError)
    }
  }
}
