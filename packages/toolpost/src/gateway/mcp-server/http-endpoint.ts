import { randomUUID } from 'node:crypto'
import {
  classifyInboundRequest,
  isInitializeRequest,
  isJsonContentType,
  PROTOCOL_VERSION_META_KEY,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { METHOD_NOT_FOUND, Peer, type RequestId } from '../../mcp/peer.ts'
import { isRecord } from '../../util/guards.ts'
import type { Clients } from '../clients.ts'
import {
  callerOf,
  Disconnected,
  EventStream,
  failure,
  headerOf,
  json,
  type RequestContext,
  rawJson,
  readJson,
  type Streams,
  shuttingDown,
} from '../http.ts'
import { HEARTBEAT_MS, MAX_MCP_SESSIONS, MCP_SESSION_IDLE_MS } from '../limits.ts'
import { McpMethods, type McpMethodsOptions, SESSION_VERSIONS } from './methods.ts'
import { headerMismatch } from './param-headers.ts'
import {
  errorOf,
  INVALID_REQUEST,
  isRequest,
  type McpRequest,
  MISSING_CAPABILITY,
  messageText,
  NEWEST_VERSION,
  newSession,
  PARSE_ERROR,
  paramsOf,
  type Session,
} from './protocol.ts'

export interface McpEndpointOptions extends McpMethodsOptions {
  clients: Clients
  streams: Streams
  logger: Logger
}

type Message = Record<string, unknown>

interface OpenSession {
  /** The session's owner; for anyone else it does not exist. */
  clientKey: string
  session: Session
  /** The SDK's, which knows everything about the streams of a session. */
  transport: WebStandardStreamableHTTPServerTransport
  peer: Peer
  usedAt: number
  isListening: boolean
}

/** The tools as an MCP server over Streamable HTTP. */
export class McpEndpoint {
  readonly #options: McpEndpointOptions
  readonly #methods: McpMethods
  /** The least recently used first. */
  readonly #sessions = new Map<string, OpenSession>()
  #isClosed = false

  constructor(options: McpEndpointOptions) {
    this.#options = options
    this.#methods = new McpMethods(options)
  }

  /** How many sessions clients with a 2025 protocol have. */
  get sessions(): number {
    return this.#sessions.size
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#methods.close()
    await Promise.all([...this.#sessions.values()].map(({ peer }) => peer.close()))
  }

  async handle(c: RequestContext): Promise<Response> {
    const startedAt = this.#options.executor.clock.now()
    if (this.#isClosed) return shuttingDown()
    if (c.req.method !== 'POST') return this.#inSession(c)
    if (!isJsonContentType(headerOf(c, 'content-type') ?? null))
      return failure(415, 'The Content-Type must be application/json')
    const notJson = (problem: string) => refused(400, `Parse error: ${problem}`, { code: PARSE_ERROR })
    const body = await readJson(c, notJson)
    if (body instanceof Response) return body
    const { value } = body
    if (value === undefined) return notJson('The body is empty')
    if (Array.isArray(value)) return refused(400, 'Invalid Request: batches are not supported')
    const route = classifyInboundRequest({
      httpMethod: 'POST',
      protocolVersionHeader: headerOf(c, 'mcp-protocol-version'),
      mcpMethodHeader: headerOf(c, 'mcp-method'),
      body: value,
    } as Parameters<typeof classifyInboundRequest>[0])
    const message = value as Message
    if (route.kind === 'reject')
      return refused(route.httpStatus, route.message, { ...route, id: message?.id })
    if (route.kind === 'modern') return this.#answerNewest(c, message, startedAt)
    return isInitializeRequest(message) ? this.#begin(c, message) : this.#inSession(c, message)
  }

  /** One request of the newest protocol, which stands alone; it is aborted when its client goes away. */
  #answerNewest(c: RequestContext, message: Message, startedAt: number): Promise<Response> | Response {
    const { id, method } = message as { id: RequestId; method: string }
    const { params, meta } = paramsOf(message)
    const version = meta[PROTOCOL_VERSION_META_KEY] ?? headerOf(c, 'mcp-protocol-version')
    if (version !== NEWEST_VERSION) {
      const data = { supported: [NEWEST_VERSION], requested: version }
      return refused(400, `Unsupported protocol version: ${String(version)}`, { code: -32_022, data, id })
    }
    if (!isRequest(message)) return new Response(null, { status: 202 })
    const client = c.env.client
    const tool = method === 'tools/call' ? client.findTool(String(params.name)) : undefined
    const mismatch = headerMismatch(c, method, params, tool)
    if (mismatch) return refused(400, mismatch.message, { ...mismatch, id })
    if (!this.#methods.has(method, true))
      return refused(404, 'Method not found', { code: METHOD_NOT_FOUND, id })
    const { streams, clients } = this.#options
    const isListening = method === 'subscriptions/listen'
    if (isListening && streams.areFull) return refused(503, 'Too many streams: try again later', { id })
    const onEnd = isListening ? streams.add() : undefined
    const caller = callerOf(c)
    const exchange = new Exchange(() => caller.abort(new Disconnected()))
    const request: McpRequest = {
      ...{ id, method, params, meta, caller, startedAt },
      // Looked up every time: rights can change while it runs.
      get client() {
        return clients.named(client.key)
      },
      header: name => headerOf(c, name),
      notify: (method, params) => exchange.send({ jsonrpc: '2.0', method, params }),
    }
    const answer = this.#methods
      .answer(request)
      .then(result => exchange.answer(messageText({ jsonrpc: '2.0', id, result })))
      .catch(failed => {
        const error = errorOf(failed)
        const status = error.code === MISSING_CAPABILITY ? 400 : 200
        exchange.answer(messageText({ jsonrpc: '2.0', id, error }), status)
      })
    void answer.finally(onEnd)
    return exchange.response
  }

  /** A message of a 2025 protocol. GET listens, DELETE ends the session. */
  async #inSession(c: RequestContext, message?: Message): Promise<Response> {
    const id = headerOf(c, 'mcp-session-id')
    if (id === undefined && message)
      return refused(400, 'Bad Request: Mcp-Session-Id header is required', { code: -32_000, id: message.id })
    if (id === undefined) return refused(405, 'Method not allowed without a session', {}, { allow: 'POST' })
    const found = this.#sessions.get(id)
    // As the protocol requires: the client starts over.
    if (found?.clientKey !== c.env.client.key) return refused(404, 'Session not found: initialize again')
    this.#sessions.delete(id)
    this.#sessions.set(id, found)
    return c.req.method === 'GET' ? this.#listen(c, found) : this.#post(c, found, message)
  }

  async #post(c: RequestContext, open: OpenSession, message: Message | undefined): Promise<Response> {
    const { transport, session } = open
    open.usedAt = Date.now()
    const { id, method, params } = (message ?? {}) as { id: RequestId; method?: string; params?: unknown }
    // Answers are told apart by their id alone.
    if (message && isRequest(message) && session.running.has(id))
      return refused(400, `Invalid Request: id ${JSON.stringify(id)} is already in use`, { id })
    const response = await transport.handleRequest(c.req.raw, { parsedBody: message })
    // A cancelled request is never answered.
    if (method === 'notifications/cancelled' && isRecord(params))
      transport.closeSSEStream(params.requestId as RequestId)
    return response
  }

  async #listen(c: RequestContext, open: OpenSession): Promise<Response> {
    const { streams } = this.#options
    if (streams.areFull) return refused(503, 'Too many streams: try again later')
    const response = await open.transport.handleRequest(c.req.raw)
    if (response.status !== 200) return response
    const removed = streams.add()
    open.isListening = true
    return untilEnd(response, () => {
      removed()
      // The client may come back: it lost the connection, not the session.
      open.isListening = false
      open.usedAt = Date.now()
    })
  }

  #begin(c: RequestContext, message: Message): Promise<Response> | Response {
    this.#makeRoom()
    if (this.#sessions.size >= MAX_MCP_SESSIONS)
      return refused(503, 'Too many sessions: try again later', { id: message.id })
    const { clients, logger } = this.#options
    const { key } = c.env.client
    const session = newSession(randomUUID(), (method, params) => peer.notify(method, params))
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => session.id,
      supportedProtocolVersions: [...SESSION_VERSIONS],
      keepAliveMs: HEARTBEAT_MS,
    })
    const peer: Peer = new Peer(transport, {
      methods: this.#methods.table(session, () => clients.named(key)),
      onError: error => logger.debug({ error: safeText(error.message) }, 'MCP client problem'),
      onClose: () => {
        this.#sessions.delete(session.id)
        this.#methods.end(session)
        return new Disconnected('Connection closed')
      },
    })
    const open = { clientKey: key, session, transport, peer, usedAt: Date.now(), isListening: false }
    this.#sessions.set(session.id, open)
    this.#methods.begin(session)
    return this.#post(c, open, message)
  }

  /** Sessions with a running call or a listening client always stay. */
  #makeRoom(): void {
    const tooOld = Date.now() - MCP_SESSION_IDLE_MS
    for (const { session, peer, usedAt, isListening } of [...this.#sessions.values()]) {
      const isFull = this.#sessions.size >= MAX_MCP_SESSIONS
      if (!isFull && usedAt > tooOld) return
      if (!isListening && session.running.size === 0) void peer.close()
    }
  }
}

/** The response to one posted request: plain JSON, or a stream if anything is sent before the answer, or that takes long. */
class Exchange {
  readonly response: Promise<Response>
  readonly #onGone: () => void
  readonly #timer = setTimeout(() => this.#toStream(), HEARTBEAT_MS).unref()
  #respond: (response: Response) => void = () => {}
  #stream: EventStream | undefined
  #isOpen = true

  constructor(onGone: () => void) {
    this.#onGone = onGone
    this.response = new Promise(resolve => {
      this.#respond = resolve
    })
  }

  /** Something else than the answer. */
  send(message: object): void {
    if (this.#isOpen) this.#toStream().write(eventOf(messageText(message)))
  }

  answer(text: string, status = 200): void {
    this.#isOpen = false
    clearTimeout(this.#timer)
    if (!this.#stream) return this.#respond(rawJson(text, status))
    this.#stream.write(eventOf(text))
    this.#stream.close()
  }

  #toStream(): EventStream {
    if (this.#stream) return this.#stream
    this.#stream = new EventStream({ onEnd: () => this.#isOpen && this.#onGone() })
    this.#respond(this.#stream.response)
    return this.#stream
  }
}

/** Calls `onEnd` when the body of a response has ended, by either side. */
function untilEnd(response: Response, onEnd: () => void): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      onEnd()
      controller.close()
    },
    cancel(reason) {
      onEnd()
      return reader.cancel(reason)
    },
  })
  return new Response(body, response)
}

function eventOf(text: string): string {
  return `event: message\ndata: ${text}\n\n`
}

/** A refused HTTP request, as a JSON-RPC error. */
function refused(
  status: number,
  message: string,
  { code, data, id }: { code?: number; data?: unknown; id?: unknown } = {},
  headers: Record<string, string> = status === 503 ? { 'retry-after': '5' } : {},
): Response {
  const usual = status === 404 ? -32_001 : status === 400 ? INVALID_REQUEST : -32_000
  const error = { code: code ?? usual, message, ...(data !== undefined && { data }) }
  const isId = typeof id === 'string' || typeof id === 'number'
  return json({ jsonrpc: '2.0', id: isId ? id : null, error }, status, headers)
}
