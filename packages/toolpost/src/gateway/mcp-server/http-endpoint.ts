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
import { isRecord } from '../../runtime/guards.ts'
import { innerCall } from '../../tools/search/search-tools.ts'
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
import { Discoveries } from './client-tools.ts'
import { Exchange, isRequest, type PostOptions, SessionTransport } from './exchange.ts'
import { McpMethods, type McpMethodsOptions, SESSION_VERSIONS } from './methods.ts'
import { headerMismatch, paramMismatch } from './param-headers.ts'
import {
  errorOf,
  type McpRequest,
  MISSING_CAPABILITY,
  NEWEST_VERSION,
  newestResult,
  PARSE_ERROR,
  rpcFailure,
  type Session,
} from './protocol.ts'

/** The tools as an MCP server over Streamable HTTP. */
export interface McpEndpoint {
  handle(c: RequestContext): Promise<Response>
  /** The sessions of clients with a 2025 protocol. */
  readonly sessions: number
  close(): Promise<void>
}

export interface McpEndpointOptions extends McpMethodsOptions {
  clients: Clients
  streams: Streams
  logger: Logger
}

type Message = Record<string, unknown>

export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  return new HttpEndpoint(options)
}

interface OpenSession {
  /** The session's owner; for anyone else it does not exist. */
  clientKey: string
  session: Session
  transport: SessionTransport
  peer: Peer
}

class HttpEndpoint implements McpEndpoint {
  readonly #options: McpEndpointOptions
  readonly #methods: McpMethods
  /** The least recently used first. */
  readonly #sessions = new Map<string, OpenSession>()
  #isClosed = false

  constructor(options: McpEndpointOptions) {
    this.#options = options
    this.#methods = new McpMethods(options)
  }

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
    if (body.value === undefined) return parseFailure('The body is empty')
    const messages = (Array.isArray(body.value) ? body.value : [body.value]) as Message[]
    if (messages.length > MAX_MCP_BATCH)
      return rpcFailure(400, {
        message: `Invalid Request: a batch may have at most ${MAX_MCP_BATCH} messages`,
      })
    const refusal = this.#refuseCalls(c, messages)
    if (refusal) return refusal
    const { value } = body
    const route = classifyInboundRequest({
      httpMethod: 'POST',
      ...headersOf(c),
      body: value,
    } as Parameters<typeof classifyInboundRequest>[0])
    if (route.kind === 'reject') {
      const { httpStatus, code, message, data } = route
      return rpcFailure(
        httpStatus,
        { code, message, ...(data !== undefined && { data }) },
        { id: idOf(value) },
      )
    }
    if (route.kind === 'modern') return this.#answerNewest(c, value as Message, startedAt)
    return this.#answer2025(c, messages, {
      isBatch: Array.isArray(value),
      startedAt,
      header: name => headerOf(c, name),
    })
  }

  /** One request of the newest protocol, which stands alone. */
  async #answerNewest(c: RequestContext, message: Message, startedAt: number): Promise<Response> {
    const { id, method } = message as { id: RequestId; method: string }
    const params = isRecord(message.params) ? message.params : {}
    const meta = isRecord(params._meta) ? params._meta : {}
    const version = meta[PROTOCOL_VERSION_META_KEY] ?? headerOf(c, 'mcp-protocol-version')
    if (version !== NEWEST_VERSION)
      return rpcFailure(
        400,
        {
          code: -32_022,
          message: `Unsupported protocol version: ${String(version)}`,
          data: { supported: [NEWEST_VERSION], requested: version },
        },
        { id },
      )
    if (!isRequest(message)) return new Response(null, { status: 202 })
    const client = c.get('client')
    const mismatch =
      headerMismatch(c, method, params) ??
      (method === 'tools/call' ? paramMismatch(c, params, client.findTool(String(params.name))) : undefined)
    if (mismatch) return rpcFailure(400, mismatch, { id })
    if (!this.#methods.has(method, true))
      return rpcFailure(404, { code: METHOD_NOT_FOUND, message: 'Method not found' }, { id })
    const isListening = method === 'subscriptions/listen'
    if (isListening && this.#options.streams.areFull)
      return rpcFailure(503, { message: 'Too many streams: try again later' }, { id, headers: RETRY })
    const onEnd = isListening ? this.#options.streams.add() : undefined
    const request = this.#request(c, message, startedAt)
    const { exchange, caller } = request
    void this.#methods
      .answer(request)
      .then(result => exchange.answer({ jsonrpc: '2.0', id, result: newestResult(method, result) }))
      .catch(error => {
        const told = errorOf(error)
        exchange.answer({ jsonrpc: '2.0', id, error: told }, told.code === MISSING_CAPABILITY ? 400 : 200)
      })
      .finally(() => {
        caller.signal.removeEventListener('abort', request.onAbort)
        onEnd?.()
      })
    return exchange.response
  }

  /** A request that is answered on its own; it is aborted when its client goes away. */
  #request(c: RequestContext, message: Message, startedAt: number, given?: Exchange) {
    const params = isRecord(message.params) ? message.params : {}
    const { clients } = this.#options
    const { key } = c.get('client')
    const controller = new AbortController()
    const onAbort = () => controller.abort(new Disconnected())
    const exchange = given ?? new Exchange({ requests: 1, onGone: onAbort })
    const caller = callerOf(c)
    caller.signal.addEventListener('abort', onAbort)
    const request: McpRequest = {
      id: message.id as RequestId,
      method: String(message.method),
      params,
      meta: isRecord(params._meta) ? params._meta : {},
      signal: controller.signal,
      // Looked up every time: rights can change while it runs.
      get client() {
        return clients.named(key)
      },
      session: undefined,
      header: name => headerOf(c, name),
      startedAt,
      notify: (method, params) => exchange.send({ jsonrpc: '2.0', method, params }),
    }
    return Object.assign(request, { exchange, caller, onAbort })
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
    if (headerOf(c, 'mcp-session-id') !== undefined && !(isInitialize && messages.length === 1)) {
      const found = this.#session(c)
      return found instanceof Response ? found : found.transport.post(messages, posted)
    }
    if (isInitialize) return this.#begin(c, messages, posted)
    const unsupported = unsupportedVersion(c)
    if (unsupported) return unsupported
    const requests = messages.filter(isRequest)
    if (requests.length === 0) return new Response(null, { status: 202 })
    const exchange = new Exchange({ requests: requests.length, isBatch: posted.isBatch })
    for (const message of requests) void this.#answerAlone(c, message, exchange, posted.startedAt)
    return exchange.response
  }

  /** A request of a 2025 protocol without a session. */
  async #answerAlone(
    c: RequestContext,
    message: Message,
    exchange: Exchange,
    startedAt: number,
  ): Promise<void> {
    const { id } = message as { id: RequestId }
    const request = this.#request(c, message, startedAt, exchange)
    try {
      exchange.answer({ jsonrpc: '2.0', id, result: await this.#methods.answer(request) })
    } catch (error) {
      exchange.answer({ jsonrpc: '2.0', id, error: errorOf(error) })
    } finally {
      request.caller.signal.removeEventListener('abort', request.onAbort)
    }
  }

  /** Without a session, 2025 clients cannot cancel a call or be notified of changes. */
  #begin(c: RequestContext, messages: Message[], posted: PostOptions): Promise<Response> | Response {
    if (messages.length > 1)
      return rpcFailure(400, { message: 'Invalid Request: Only one initialization request is allowed' })
    this.#makeRoom()
    if (this.#sessions.size >= MAX_MCP_SESSIONS)
      return rpcFailure(
        503,
        { message: 'Too many sessions: try again later' },
        { id: idOf(messages[0]), headers: RETRY },
      )
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
    this.#sessions.set(session.id, { clientKey: key, session, transport, peer })
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
    if (headerOf(c, 'mcp-session-id') === undefined || (method !== 'GET' && method !== 'DELETE'))
      return rpcFailure(
        405,
        { message: 'Method not allowed without a session' },
        { headers: { allow: 'POST' } },
      )
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
      const { method, params } = isRecord(message) ? message : {}
      const { name, arguments: args } = isRecord(params) ? params : {}
      if (method !== 'tools/call' || typeof name !== 'string') continue
      const called = searches ? innerCall({ name, args }).name : name
      const refusal = clients.refuseCall(c.req.raw, client, called)
      if (refusal) return refusal
    }
    return undefined
  }
}

const RETRY = { 'retry-after': '5' }

export function newSession(id: string, notify: Session['notify']): Session {
  return {
    id,
    notify,
    capabilities: {},
    version: '',
    level: 'info',
    discoveries: new Discoveries(),
    followed: new Map(),
    onClose: [],
  }
}

function headersOf(c: RequestContext) {
  const version = headerOf(c, 'mcp-protocol-version')
  const method = headerOf(c, 'mcp-method')
  return {
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(method !== undefined && { mcpMethodHeader: method }),
  }
}

function idOf(message: unknown): unknown {
  return isRecord(message) ? message.id : null
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
