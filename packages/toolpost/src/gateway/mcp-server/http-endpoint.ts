import { randomUUID } from 'node:crypto'
import {
  classifyInboundRequest,
  isInitializeRequest,
  isJsonContentType,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { METHOD_NOT_FOUND, Peer, type RequestId } from '../../mcp/peer.ts'
import { innerCall } from '../../tools/search/search-tools.ts'
import { isRecord } from '../../util/guards.ts'
import type { Clients } from '../clients.ts'
import {
  callerOf,
  Disconnected,
  failure,
  headerOf,
  type RequestContext,
  readJson,
  type Streams,
  shuttingDown,
} from '../http.ts'
import { MAX_MCP_BATCH, MAX_MCP_SESSIONS, MCP_SESSION_IDLE_MS } from '../limits.ts'
import { Exchange, isRequest, type PostOptions, SessionTransport } from './exchange.ts'
import { McpMethods, type McpMethodsOptions, SESSION_VERSIONS } from './methods.ts'
import { headerMismatch, paramMismatch } from './param-headers.ts'
import {
  errorOf,
  type McpRequest,
  MISSING_CAPABILITY,
  NEWEST_VERSION,
  newSession,
  PARSE_ERROR,
  paramsOf,
  rpcFailure,
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
  transport: SessionTransport
  peer: Peer
}

const RETRY = { 'retry-after': '5' }

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
    if (c.req.method !== 'POST') return this.#handleSession(c)
    if (!isJsonContentType(headerOf(c, 'content-type') ?? null))
      return failure(415, 'The Content-Type must be application/json')
    const body = await readJson(c, parseFailure)
    if (body instanceof Response) return body
    const { value } = body
    if (value === undefined) return parseFailure('The body is empty')
    const messages = (Array.isArray(value) ? value : [value]) as Message[]
    if (messages.length > MAX_MCP_BATCH)
      return rpcFailure(400, {
        message: `Invalid Request: a batch may have at most ${MAX_MCP_BATCH} messages`,
      })
    const refusal = this.#refuseCalls(c, messages)
    if (refusal) return refusal
    const route = classifyInboundRequest({
      httpMethod: 'POST',
      protocolVersionHeader: headerOf(c, 'mcp-protocol-version'),
      mcpMethodHeader: headerOf(c, 'mcp-method'),
      body: value,
    } as Parameters<typeof classifyInboundRequest>[0])
    if (route.kind === 'reject') {
      const { httpStatus, code, message, data } = route
      const error = { code, message, ...(data !== undefined && { data }) }
      return rpcFailure(httpStatus, error, { id: isRecord(value) ? value.id : null })
    }
    if (route.kind === 'modern') return this.#answerNewest(c, value as Message, startedAt)
    const posted = { isBatch: Array.isArray(value), startedAt, header: (name: string) => headerOf(c, name) }
    return this.#answer2025(c, messages, posted)
  }

  /** One request of the newest protocol, which stands alone. */
  #answerNewest(c: RequestContext, message: Message, startedAt: number): Promise<Response> | Response {
    const { id, method } = message as { id: RequestId; method: string }
    const { params, meta } = paramsOf(message)
    const version = meta[PROTOCOL_VERSION_META_KEY] ?? headerOf(c, 'mcp-protocol-version')
    if (version !== NEWEST_VERSION) {
      const data = { supported: [NEWEST_VERSION], requested: version }
      const error = { code: -32_022, message: `Unsupported protocol version: ${String(version)}`, data }
      return rpcFailure(400, error, { id })
    }
    if (!isRequest(message)) return new Response(null, { status: 202 })
    const mismatch =
      headerMismatch(c, method, params) ??
      (method === 'tools/call' && paramMismatch(c, params, c.get('client').findTool(String(params.name))))
    if (mismatch) return rpcFailure(400, mismatch, { id })
    if (!this.#methods.has(method, true))
      return rpcFailure(404, { code: METHOD_NOT_FOUND, message: 'Method not found' }, { id })
    const { streams } = this.#options
    const isListening = method === 'subscriptions/listen'
    if (isListening && streams.areFull)
      return rpcFailure(503, { message: 'Too many streams: try again later' }, { id, headers: RETRY })
    const onEnd = isListening ? streams.add() : undefined
    const caller = callerOf(c)
    const exchange = new Exchange({ requests: 1, onGone: () => caller.abort(new Disconnected()) })
    void this.#answer(c, message, { exchange, caller, startedAt }).finally(onEnd)
    return exchange.response
  }

  /** Answers a request on its own, without a session; it is aborted when its client goes away. */
  async #answer(
    c: RequestContext,
    message: Message,
    { exchange, caller, startedAt }: { exchange: Exchange; caller: AbortController; startedAt: number },
  ): Promise<void> {
    const { clients } = this.#options
    const { key } = c.get('client')
    const { id, method } = message as { id: RequestId; method: string }
    const { params, meta } = paramsOf(message)
    const request: McpRequest = {
      id,
      method,
      params,
      meta,
      caller,
      startedAt,
      // Looked up every time: rights can change while it runs.
      get client() {
        return clients.named(key)
      },
      header: name => headerOf(c, name),
      notify: (method, params) => exchange.send({ jsonrpc: '2.0', method, params }),
    }
    try {
      exchange.answer({ jsonrpc: '2.0', id, result: await this.#methods.answer(request) })
    } catch (error) {
      const told = errorOf(error)
      exchange.answer({ jsonrpc: '2.0', id, error: told }, told.code === MISSING_CAPABILITY ? 400 : 200)
    }
  }

  #answer2025(
    c: RequestContext,
    messages: Message[],
    posted: PostOptions & { startedAt: number },
  ): Promise<Response> | Response {
    const accepts = headerOf(c, 'accept') ?? ''
    if (!accepts.includes('application/json') || !accepts.includes('text/event-stream'))
      return rpcFailure(406, {
        message: 'Not Acceptable: Client must accept both application/json and text/event-stream',
      })
    if (!messages.every(isMessage))
      return rpcFailure(400, { code: PARSE_ERROR, message: 'Parse error: Invalid JSON-RPC message' })
    const isInitialize = messages.some(message => isInitializeRequest(message))
    if (isInitialize && messages.length > 1)
      return rpcFailure(400, { message: 'Invalid Request: Only one initialization request is allowed' })
    if (isInitialize) return this.#begin(c, messages, posted)
    if (headerOf(c, 'mcp-session-id') !== undefined) {
      const found = this.#session(c)
      return found instanceof Response ? found : found.transport.post(messages, posted)
    }
    const unsupported = unsupportedVersion(c)
    if (unsupported) return unsupported
    const requests = messages.filter(isRequest)
    if (requests.length === 0) return new Response(null, { status: 202 })
    const caller = callerOf(c)
    const onGone = () => caller.abort(new Disconnected())
    const exchange = new Exchange({ requests: requests.length, isBatch: posted.isBatch, onGone })
    for (const message of requests)
      void this.#answer(c, message, { exchange, caller, startedAt: posted.startedAt })
    return exchange.response
  }

  /** Without a session, 2025 clients cannot cancel a call or be notified of changes. */
  #begin(c: RequestContext, messages: Message[], posted: PostOptions): Promise<Response> | Response {
    this.#makeRoom()
    if (this.#sessions.size >= MAX_MCP_SESSIONS) {
      const message = 'Too many sessions: try again later'
      return rpcFailure(503, { message }, { id: messages[0]?.id, headers: RETRY })
    }
    const transport = new SessionTransport(randomUUID())
    const { clients, logger } = this.#options
    const { key } = c.get('client')
    const session = newSession(transport.sessionId, (method, params) => peer.notify(method, params))
    const peer: Peer = new Peer(transport, {
      methods: this.#methods.table(session, () => clients.named(key)),
      onError: error => logger.debug({ error: safeText(error.message) }, 'MCP client problem'),
      onClose: () => {
        this.#sessions.delete(session.id)
        this.#methods.end(session)
        return new Disconnected('Connection closed')
      },
    })
    this.#sessions.set(session.id, { clientKey: key, transport, peer })
    this.#methods.begin(session)
    return transport.post(messages, posted)
  }

  /** Sessions with a running call or a listening client always stay. */
  #makeRoom(): void {
    const tooOld = Date.now() - MCP_SESSION_IDLE_MS
    for (const { transport, peer } of [...this.#sessions.values()]) {
      const isFull = this.#sessions.size >= MAX_MCP_SESSIONS
      if (!isFull && transport.usedAt > tooOld) return
      if (!transport.isBusy) void peer.close()
    }
  }

  #session(c: RequestContext): OpenSession | Response {
    const id = headerOf(c, 'mcp-session-id') ?? ''
    const found = this.#sessions.get(id)
    // As the protocol requires: the client starts over.
    if (found?.clientKey !== c.get('client').key)
      return rpcFailure(404, { message: 'Session not found: initialize again' })
    const unsupported = unsupportedVersion(c)
    if (unsupported) return unsupported
    this.#sessions.delete(id)
    this.#sessions.set(id, found)
    return found
  }

  /** GET listens, DELETE ends the session. */
  async #handleSession(c: RequestContext): Promise<Response> {
    const { method } = c.req
    if (headerOf(c, 'mcp-session-id') === undefined || (method !== 'GET' && method !== 'DELETE')) {
      const headers = { allow: 'POST' }
      return rpcFailure(405, { message: 'Method not allowed without a session' }, { headers })
    }
    const found = this.#session(c)
    if (found instanceof Response) return found
    if (method === 'DELETE') {
      await found.peer.close()
      return new Response(null, { status: 200 })
    }
    if (!headerOf(c, 'accept')?.includes('text/event-stream'))
      return rpcFailure(406, { message: 'Not Acceptable: Client must accept text/event-stream' })
    const { streams } = this.#options
    if (streams.areFull)
      return rpcFailure(503, { message: 'Too many streams: try again later' }, { headers: RETRY })
    return found.transport.listen(streams.add())
  }

  /** Refuses a message that calls a tool for which the client lacks the scope. */
  #refuseCalls(c: RequestContext, messages: Message[]): Response | undefined {
    const { clients, offer } = this.#options
    const client = c.get('client')
    if (!client.isNamed) return undefined
    const searches = client.toolSearch ?? offer?.().toolSearch ?? false
    for (const message of messages) {
      if (!isRecord(message) || message.method !== 'tools/call') continue
      const { name, arguments: args } = paramsOf(message).params
      const called = searches ? innerCall({ name: String(name), args }).name : String(name)
      const refusal = clients.refuseCall(c.req.raw, client, called)
      if (refusal) return refusal
    }
    return undefined
  }
}

function isMessage(message: Message): boolean {
  if (!isRecord(message) || message.jsonrpc !== '2.0') return false
  if (typeof message.method === 'string') return message.id === undefined || isRequest(message)
  return message.id !== undefined && ('result' in message || 'error' in message)
}

function unsupportedVersion(c: RequestContext): Response | undefined {
  const version = headerOf(c, 'mcp-protocol-version')
  if (version === undefined || SESSION_VERSIONS.includes(version)) return undefined
  const supported = SESSION_VERSIONS.join(', ')
  const message = `Bad Request: Unsupported protocol version: ${version} (supported versions: ${supported})`
  return rpcFailure(400, { code: -32_000, message })
}

function parseFailure(problem: string): Response {
  return rpcFailure(400, { code: PARSE_ERROR, message: `Parse error: ${problem}` })
}
