import { randomUUID } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  isInitializeRequest,
  isJsonContentType,
  PROTOCOL_VERSION_META_KEY,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { METHOD_NOT_FOUND, type Params, Peer, type RequestId } from '../../mcp/peer.ts'
import { isRecord } from '../../util/guards.ts'
import type { Clients } from '../clients.ts'
import * as http from '../http.ts'
import { HEARTBEAT_MS, MAX_MCP_SESSIONS, MAX_STREAMS, MCP_SESSION_IDLE_MS } from '../limits.ts'
import { McpMethods, type McpMethodsOptions, SESSION_VERSIONS } from './methods.ts'
import { headerMismatch } from './param-headers.ts'
import * as protocol from './protocol.ts'

export interface McpEndpointOptions extends McpMethodsOptions {
  clients: Clients
  streams: Set<unknown>
  logger: Logger
}

type Message = Readonly<{ id?: RequestId; method?: unknown; params?: unknown }>

interface OpenSession {
  /** The session's owner; for anyone else it does not exist. */
  clientKey: string
  session: protocol.Session
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

  async handle(c: http.RequestContext): Promise<Response> {
    const startedAt = this.#options.executor.clock.now()
    if (this.#isClosed) return http.shuttingDown()
    if (c.req.method !== 'POST') return this.#inSession(c)
    if (!isJsonContentType(http.headerOf(c, 'content-type') ?? null))
      return http.failure(415, 'The Content-Type must be application/json')
    const notJson = (problem: string) =>
      refused(400, `Parse error: ${problem}`, { code: protocol.PARSE_ERROR })
    const body = await http.readJson(c, notJson)
    if (body instanceof Response) return body
    if (body.value === undefined) return notJson('The body is empty')
    if (Array.isArray(body.value)) return refused(400, 'Invalid Request: batches are not supported')
    const message = body.value as Message
    const protocolVersionHeader = http.headerOf(c, 'mcp-protocol-version')
    const mcpMethodHeader = http.headerOf(c, 'mcp-method')
    // The SDK's classification takes longer than a small call.
    if (isPlainlyNewest(message, protocolVersionHeader, mcpMethodHeader))
      return this.#answerNewest(c, message, startedAt)
    const about = { httpMethod: 'POST', protocolVersionHeader, mcpMethodHeader, body: message }
    const route = classifyInboundRequest(about as Parameters<typeof classifyInboundRequest>[0])
    if (route.kind === 'reject')
      return refused(route.httpStatus, route.message, { ...route, id: message?.id })
    if (route.kind === 'modern') return this.#answerNewest(c, message, startedAt)
    return isInitializeRequest(message) ? this.#begin(c, message) : this.#inSession(c, message)
  }

  /** One request of the newest protocol, which stands alone; it is aborted when its client goes away. */
  #answerNewest(c: http.RequestContext, message: Message, startedAt: number): Promise<Response> | Response {
    const { id = 0, method } = message
    const params = isRecord(message.params) ? message.params : {}
    const meta = protocol.metaIn(params)
    const version = meta[PROTOCOL_VERSION_META_KEY] ?? http.headerOf(c, 'mcp-protocol-version')
    if (version !== protocol.NEWEST_VERSION) {
      const data = { supported: [protocol.NEWEST_VERSION], requested: version }
      return refused(400, `Unsupported protocol version: ${String(version)}`, { code: -32_022, data, id })
    }
    if (typeof method !== 'string' || message.id === undefined) return new Response(null, { status: 202 })
    const { client } = c.env
    const tool = method === 'tools/call' ? client.findTool(String(params.name)) : undefined
    const header = (name: string) => http.headerOf(c, name)
    const mismatch = headerMismatch(header, method, params, tool)
    if (mismatch) return refused(400, mismatch.message, { ...mismatch, id })
    if (!this.#methods.has(method, true))
      return refused(404, 'Method not found', { code: METHOD_NOT_FOUND, id })
    const { streams, clients } = this.#options
    const isListening = method === 'subscriptions/listen'
    if (isListening && streams.size >= MAX_STREAMS)
      return refused(503, 'Too many streams: try again later', { id })
    const caller = http.callerOf(c)
    const exchange = exchangeWith(() => caller.abort(new http.Disconnected()))
    if (isListening) streams.add(exchange)
    const request: protocol.McpRequest = {
      id,
      method,
      params,
      meta,
      caller,
      startedAt,
      header,
      session: undefined,
      // Looked up every time: rights can change while it runs.
      get client() {
        return clients.named(client.key)
      },
      notify: (method, params) => exchange.send({ jsonrpc: '2.0', method, params }),
    }
    void this.#methods
      .answer(request)
      .then(result => exchange.answer(protocol.messageText({ jsonrpc: '2.0', id, result })))
      .catch(failed => {
        const error = protocol.errorOf(failed)
        const status = error.code === protocol.MISSING_CAPABILITY ? 400 : 200
        exchange.answer(protocol.messageText({ jsonrpc: '2.0', id, error }), status)
      })
      .finally(() => streams.delete(exchange))
    return exchange.response
  }

  /** A message of a 2025 protocol. GET listens, DELETE ends the session. */
  async #inSession(c: http.RequestContext, message?: Message): Promise<Response> {
    const id = http.headerOf(c, 'mcp-session-id')
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

  async #post(c: http.RequestContext, open: OpenSession, message: Message = {}): Promise<Response> {
    const { transport, session } = open
    open.usedAt = Date.now()
    const { id, method, params } = message
    // Answers are told apart by their id alone.
    if (id !== undefined && typeof method === 'string' && session.running.has(id))
      return refused(400, `Invalid Request: id ${JSON.stringify(id)} is already in use`, { id })
    const parsedBody = c.req.method === 'POST' ? message : undefined
    const response = await transport.handleRequest(c.req.raw, { parsedBody })
    // A cancelled request is never answered.
    if (method === 'notifications/cancelled' && isRecord(params))
      transport.closeSSEStream(params.requestId as RequestId)
    return response
  }

  async #listen(c: http.RequestContext, open: OpenSession): Promise<Response> {
    const { streams } = this.#options
    if (streams.size >= MAX_STREAMS) return refused(503, 'Too many streams: try again later')
    const response = await open.transport.handleRequest(c.req.raw)
    if (response.status !== 200) return response
    streams.add(response)
    open.isListening = true
    return untilEnd(response, () => {
      streams.delete(response)
      // The client may come back: it lost the connection, not the session.
      open.isListening = false
      open.usedAt = Date.now()
    })
  }

  #begin(c: http.RequestContext, message: Message): Promise<Response> | Response {
    this.#makeRoom()
    if (this.#sessions.size >= MAX_MCP_SESSIONS)
      return refused(503, 'Too many sessions: try again later', { id: message.id })
    const { clients, logger } = this.#options
    const { key } = c.env.client
    const session = new protocol.Session(randomUUID(), (method, params) => peer.notify(method, params))
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => session.id,
      supportedProtocolVersions: [...SESSION_VERSIONS],
      keepAliveMs: HEARTBEAT_MS,
    })
    const peer: Peer = new Peer(transport, {
      methods: this.#methods.begin(session, () => clients.named(key)),
      onError: error => logger.debug({ error: safeText(error.message) }, 'MCP client problem'),
      onClose: () => {
        this.#sessions.delete(session.id)
        this.#methods.end(session)
        return new http.Disconnected('Connection closed')
      },
    })
    const open = { clientKey: key, session, transport, peer, usedAt: Date.now(), isListening: false }
    this.#sessions.set(session.id, open)
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

/** Whether a message is a complete request of the newest protocol; if not, the SDK says what it is. */
function isPlainlyNewest(message: Message, version: string | undefined, method: string | undefined): boolean {
  const { params, id } = message ?? {}
  if (version !== protocol.NEWEST_VERSION || method !== message.method || !isRecord(params)) return false
  const meta = protocol.metaIn(params)
  const info = meta[CLIENT_INFO_META_KEY]
  return (
    (typeof id === 'string' || Number.isSafeInteger(id)) &&
    (message as Params).jsonrpc === '2.0' &&
    meta[PROTOCOL_VERSION_META_KEY] === version &&
    isRecord(meta[CLIENT_CAPABILITIES_META_KEY]) &&
    isRecord(info) &&
    typeof info.name === 'string' &&
    typeof info.version === 'string'
  )
}

/** The response to one request: plain JSON, or a stream if anything is sent before the answer, or that takes long. */
function exchangeWith(onGone: () => void) {
  let isOpen = true
  let stream: http.EventStream | undefined
  let respond: (response: Response) => void = () => {}
  const response = new Promise<Response>(resolve => {
    respond = resolve
  })
  const toStream = () => {
    stream ??= new http.EventStream(() => isOpen && onGone())
    respond(stream.response)
    return stream
  }
  const timer = setTimeout(toStream, HEARTBEAT_MS).unref()
  return {
    response,
    send(message: object): void {
      if (isOpen) toStream().write(eventOf(protocol.messageText(message)))
    },
    answer(text: string, status = 200): void {
      isOpen = false
      clearTimeout(timer)
      if (!stream) return respond(http.content(text, undefined, status))
      stream.write(eventOf(text))
      stream.close()
    },
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
  const usual = status === 404 ? -32_001 : status === 400 ? protocol.INVALID_REQUEST : -32_000
  const error = { code: code ?? usual, message, ...(data !== undefined && { data }) }
  const isId = typeof id === 'string' || typeof id === 'number'
  return http.json({ jsonrpc: '2.0', id: isId ? id : null, error }, status, headers)
}
