import type { ServerResponse } from 'node:http'
import * as sdk from '@modelcontextprotocol/server'
import { HTTPException } from 'hono/http-exception'
import type { Logger } from '../../logging/logger.ts'
import { errorOf, METHOD_NOT_FOUND, type Peer, type RequestId } from '../../mcp/peer.ts'
import { isRecord } from '../../util/guards.ts'
import type { Client } from '../clients.ts'
import * as http from '../http.ts'
import { HEARTBEAT_MS, MAX_MCP_SESSIONS, MAX_STREAMS } from '../limits.ts'
import { createMethods, type McpMethodsOptions, SESSION_VERSIONS } from './methods.ts'
import { headerMismatch } from './param-headers.ts'
import * as protocol from './protocol.ts'

export interface McpEndpointOptions extends McpMethodsOptions {
  streams: Map<unknown, Client>
  logger: Logger
}

type Message = Readonly<{ jsonrpc?: unknown; id?: RequestId; method?: unknown; params?: unknown }>

interface OpenSession {
  /** For anyone else it does not exist. */
  client: Client
  session: protocol.Session
  /** The SDK's, which knows everything about the streams of a session. */
  transport: sdk.WebStandardStreamableHTTPServerTransport
  peer: Peer
}

/** The tools as an MCP server over Streamable HTTP. */
export function createMcpEndpoint(options: McpEndpointOptions) {
  const { streams, logger, source } = options
  const methods = createMethods(options)
  /** The least recently used first. */
  const sessions = new Map<string, OpenSession>()
  let isClosed = false

  /** One request of the newest protocol, which stands alone; it is aborted when its client goes away. */
  function answerNewest(c: http.RequestContext, message: Message, startedAt: number) {
    const { id = 0, method } = message
    const params = isRecord(message.params) ? message.params : {}
    const meta = protocol.metaIn(params)
    const header = (name: string) => http.headerOf(c, name)
    const version = meta[sdk.PROTOCOL_VERSION_META_KEY] ?? header('mcp-protocol-version')
    if (version !== protocol.NEWEST_VERSION) {
      const data = { supported: [protocol.NEWEST_VERSION], requested: version }
      return refused(400, `Unsupported protocol version: ${String(version)}`, { code: -32_022, data, id })
    }
    if (typeof method !== 'string' || message.id === undefined) return new Response(null, { status: 202 })
    const { client } = c.env
    const tool = method === 'tools/call' ? client.findTool(String(params.name)) : undefined
    const mismatch = headerMismatch(header, method, params, tool)
    if (mismatch) return refused(400, mismatch.message, { ...mismatch, id })
    if (!methods.has(method)) return refused(404, 'Method not found', { code: METHOD_NOT_FOUND, id })
    const isListening = method === 'subscriptions/listen'
    if (isListening && http.isFull([...streams.values()], client, MAX_STREAMS))
      return refused(503, 'Too many streams: try again later', { id })
    const caller = http.callerOf(c)
    const exchange = exchangeWith(() => caller.abort(new http.Disconnected()), c.env.outgoing)
    if (isListening) streams.set(exchange, client)
    const request: protocol.McpRequest = {
      id,
      method,
      params,
      meta,
      caller,
      startedAt,
      header,
      client,
      session: undefined,
      notify: (method, params) => exchange.send({ jsonrpc: '2.0', method, params }),
    }
    void methods
      .answer(request)
      .then(result => exchange.answer(protocol.messageText({ jsonrpc: '2.0', id, result })))
      .catch(failed => {
        const error = errorOf(failed)
        const status = error.code === protocol.MISSING_CAPABILITY ? 400 : 200
        exchange.answer(protocol.messageText({ jsonrpc: '2.0', id, error }), status)
      })
      .finally(() => streams.delete(exchange))
    return exchange.response
  }

  /** A message of a 2025 protocol. GET listens, DELETE ends the session. */
  async function inSession(c: http.RequestContext, message?: Message): Promise<Response> {
    const id = http.headerOf(c, 'mcp-session-id')
    if (id === undefined && message)
      return refused(400, 'Bad Request: Mcp-Session-Id header is required', { code: -32_000, id: message.id })
    if (id === undefined) return refused(405, 'Method not allowed without a session', {}, { allow: 'POST' })
    const open = sessions.get(id)
    // As the protocol requires: the client starts over.
    if (open?.client.key !== c.env.client.key) return refused(404, 'Session not found: initialize again')
    sessions.delete(id)
    sessions.set(id, open)
    if (c.req.method !== 'GET') return post(c, open, message)
    const { transport, session } = open
    const response = await transport.handleRequest(c.req.raw)
    if (response.status === 200) session.busyWith.add(response)
    // The client may come back: it lost the connection, not the session.
    c.req.raw.signal.addEventListener('abort', () => session.busyWith.delete(response))
    return response
  }

  async function post(c: http.RequestContext, open: OpenSession, message: Message = {}): Promise<Response> {
    const { transport, session } = open
    const { id, method, params } = message
    // Answers are told apart by their id alone.
    if (id !== undefined && typeof method === 'string' && session.busyWith.has(id))
      return refused(400, `Invalid Request: id ${JSON.stringify(id)} is already in use`, { id })
    const parsedBody = c.req.method === 'POST' ? message : undefined
    const response = await transport.handleRequest(c.req.raw, { parsedBody })
    // A cancelled request is never answered.
    if (method === 'notifications/cancelled' && isRecord(params))
      transport.closeSSEStream(params.requestId as RequestId)
    return response
  }

  function begin(c: http.RequestContext, message: Message): Promise<Response> | Response {
    const { client } = c.env
    const isFull = () => {
      const owners = [...sessions.values()].map(each => each.client)
      return http.isFull(owners, client, MAX_MCP_SESSIONS)
    }
    // Sessions with a running call or a listening client always stay.
    for (const { session, peer, client: owner } of [...sessions.values()]) {
      if (!isFull()) break
      const mayEnd = owner.key === client.key || sessions.size >= MAX_MCP_SESSIONS
      if (mayEnd && session.busyWith.size === 0) void peer.close()
    }
    if (isFull()) return refused(503, 'Too many sessions: try again later', { id: message.id })
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => session.id,
      supportedProtocolVersions: SESSION_VERSIONS,
      keepAliveMs: HEARTBEAT_MS,
    })
    const onProblem = logger.debug.bind(logger)
    const onEnd = () => void sessions.delete(session.id)
    const { session, peer } = methods.connect(transport, { client, onProblem, onEnd })
    const open = { client, session, transport, peer }
    sessions.set(session.id, open)
    return post(c, open, message)
  }

  return {
    /** How many sessions clients with a 2025 protocol have. */
    get sessions(): number {
      return sessions.size
    },

    async close(): Promise<void> {
      isClosed = true
      methods.close()
      await Promise.all([...sessions.values()].map(({ peer }) => peer.close()))
    },

    async handle(c: http.RequestContext): Promise<Response> {
      const startedAt = source.executor.clock.now()
      if (isClosed) throw http.shuttingDown()
      if (c.req.method !== 'POST') return inSession(c)
      if (!sdk.isJsonContentType(http.headerOf(c, 'content-type') ?? null))
        throw http.refusal(415, 'The Content-Type must be application/json')
      const notJson = (problem: string) => {
        const res = refused(400, `Parse error: ${problem}`, { code: protocol.PARSE_ERROR })
        return new HTTPException(400, { res })
      }
      const message = (await http.readJson(c, notJson)) as Message | undefined
      if (message === undefined) throw notJson('The body is empty')
      if (Array.isArray(message)) return refused(400, 'Invalid Request: batches are not supported')
      const protocolVersionHeader = http.headerOf(c, 'mcp-protocol-version')
      const mcpMethodHeader = http.headerOf(c, 'mcp-method')
      // The SDK's classification takes longer than a small call.
      if (isPlainlyNewest(message, protocolVersionHeader, mcpMethodHeader))
        return answerNewest(c, message, startedAt)
      const about = { httpMethod: 'POST', protocolVersionHeader, mcpMethodHeader, body: message }
      const route = sdk.classifyInboundRequest(about as never)
      if (route.kind === 'reject')
        return refused(route.httpStatus, route.message, { ...route, id: message?.id })
      if (route.kind === 'modern') return answerNewest(c, message, startedAt)
      return sdk.isInitializeRequest(message) ? begin(c, message) : inSession(c, message)
    },
  }
}

/** Whether a message is a complete request of the newest protocol; if not, the SDK says what it is. */
function isPlainlyNewest(message: Message, version: string | undefined, method: string | undefined): boolean {
  const { params, id, jsonrpc } = message ?? {}
  if (version !== protocol.NEWEST_VERSION || method !== message.method || !isRecord(params)) return false
  const meta = protocol.metaIn(params)
  const { name, version: own } = Object(meta[sdk.CLIENT_INFO_META_KEY])
  const isWhole = typeof name === 'string' && typeof own === 'string' && jsonrpc === '2.0'
  const isRequest = typeof id === 'string' || Number.isSafeInteger(id)
  const isKnown = meta[sdk.PROTOCOL_VERSION_META_KEY] === version
  return isWhole && isRequest && isKnown && isRecord(meta[sdk.CLIENT_CAPABILITIES_META_KEY])
}

/** The response to one request: plain JSON, or a stream if anything is sent before the answer, or that takes long. */
function exchangeWith(onGone: () => void, outgoing: ServerResponse | undefined) {
  let isOpen = true
  let stream: http.EventStream | undefined
  let respond: (response: Response) => void = () => {}
  const response = new Promise<Response>(resolve => {
    respond = resolve
  })
  const toStream = () => {
    stream ??= new http.EventStream(() => isOpen && onGone(), outgoing)
    respond(stream.response)
    return stream
  }
  const timer = setTimeout(toStream, HEARTBEAT_MS).unref()
  return {
    response,
    send(message: object): void {
      if (isOpen) toStream().write(`event: message\ndata: ${protocol.messageText(message)}\n\n`)
    },
    answer(text: string, status = 200): void {
      isOpen = false
      clearTimeout(timer)
      if (!stream) return respond(http.content(text, undefined, status))
      stream.write(`event: message\ndata: ${text}\n\n`)
      stream.close()
    },
  }
}

/** A refused HTTP request, as a JSON-RPC error. */
function refused(
  status: number,
  message: string,
  { code, data, id }: { code?: number; data?: unknown; id?: unknown } = {},
  headers: Record<string, string> = status === 503 ? { 'retry-after': '5' } : {},
): Response {
  const usual = status === 404 ? -32_001 : status === 400 ? protocol.INVALID_REQUEST : -32_000
  const error = { code: code ?? usual, message, data }
  const isId = typeof id === 'string' || typeof id === 'number'
  return http.json({ jsonrpc: '2.0', id: isId ? id : null, error }, status, headers)
}
