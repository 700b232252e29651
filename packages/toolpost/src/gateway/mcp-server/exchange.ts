import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server'
import type { RequestId } from '../../mcp/peer.ts'
import { EventStream, json, rawJson } from '../http.ts'
import { HEARTBEAT_MS } from '../limits.ts'
import { type McpRequest, messageText, rpcFailure } from './protocol.ts'

function send(stream: EventStream, message: object): void {
  stream.write(`event: message\ndata: ${messageText(message)}\n\n`)
}

export interface ExchangeOptions {
  /** How many requests the message has. */
  requests: number
  isBatch?: boolean
  headers?: Record<string, string>
  /** Called when the client is gone before all answers were sent. */
  onGone?: () => void
}

/**
 * The response to one posted message: plain JSON, or a stream as soon as anything is sent before the last answer, or that
 * takes long.
 */
export class Exchange {
  readonly response: Promise<Response>
  readonly #options: ExchangeOptions
  readonly #answers: object[] = []
  readonly #timer: NodeJS.Timeout
  #respond: (response: Response) => void = () => {}
  #stream: EventStream | undefined
  #open: number

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.#open = options.requests
    this.response = new Promise(resolve => {
      this.#respond = resolve
    })
    this.#timer = setTimeout(() => this.#toStream(), HEARTBEAT_MS).unref()
  }

  /** Something else than an answer. */
  send(message: object): void {
    if (this.#open > 0) send(this.#toStream(), message)
  }

  /** The answer to one of the requests; without a message, it gets none. */
  answer(message?: object, status = 200): void {
    if (this.#open === 0) return
    this.#open--
    if (message && this.#stream) send(this.#stream, message)
    else if (message) this.#answers.push(message)
    if (this.#open > 0) return
    clearTimeout(this.#timer)
    if (this.#stream || this.#answers.length === 0) return this.#toStream().close()
    const { isBatch, headers } = this.#options
    this.#respond(
      isBatch
        ? json(this.#answers, status, headers)
        : rawJson(messageText(this.#answers[0] as object), status, headers),
    )
  }

  #toStream(): EventStream {
    if (this.#stream) return this.#stream
    const { headers, onGone } = this.#options
    this.#stream = new EventStream({ headers, onEnd: () => this.#open > 0 && onGone?.() })
    for (const answer of this.#answers.splice(0)) send(this.#stream, answer)
    this.#respond(this.#stream.response)
    return this.#stream
  }
}

/** How messages were posted. */
export interface PostOptions extends Pick<McpRequest, 'header' | 'startedAt'> {
  isBatch: boolean
}

/** The connection of one session over HTTP: messages are posted, and answers and requests go out on streams. */
export class SessionTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly sessionId: string
  usedAt = Date.now()
  /** Unanswered requests. */
  readonly #open = new Map<RequestId, Exchange>()
  #listening: EventStream | undefined

  constructor(sessionId: string) {
    this.sessionId = sessionId
  }

  /** Whether it has unanswered requests or a listening client. */
  get isBusy(): boolean {
    return this.#open.size > 0 || this.#listening !== undefined
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message)) return this.#answered(message.id as RequestId, message)
    const exchange = this.#open.get(options?.relatedRequestId as RequestId)
    if (exchange) exchange.send(message)
    else if (this.#listening) send(this.#listening, message)
  }

  async close(): Promise<void> {
    this.#listening?.close()
    for (const id of [...this.#open.keys()]) this.#answered(id)
    this.onclose?.()
  }

  /** Takes the posted messages; resolves to the response. */
  post(
    messages: readonly Record<string, unknown>[],
    { isBatch, ...extra }: PostOptions,
  ): Promise<Response> | Response {
    this.usedAt = Date.now()
    const ids = messages.flatMap(message => (isRequest(message) ? [message.id as RequestId] : []))
    const taken = ids.find((id, at) => this.#open.has(id) || ids.indexOf(id) !== at)
    // Answers are told apart by their id alone.
    if (taken !== undefined) {
      const message = `Invalid Request: id ${JSON.stringify(taken)} is already in use`
      return rpcFailure(400, { message }, { id: taken })
    }
    const headers = { 'mcp-session-id': this.sessionId }
    const exchange = ids.length > 0 && new Exchange({ requests: ids.length, isBatch, headers })
    if (exchange) for (const id of ids) this.#open.set(id, exchange)
    for (const message of messages) {
      this.onmessage?.(message as unknown as JSONRPCMessage, extra as MessageExtraInfo)
      // A cancelled request is never answered.
      const { method, params } = message as { method?: unknown; params?: { requestId?: RequestId } }
      if (method === 'notifications/cancelled') this.#answered(params?.requestId as RequestId)
    }
    return exchange ? exchange.response : new Response(null, { status: 202, headers })
  }

  /** The stream for everything that belongs to no request. */
  listen(onEnd: () => void): Response {
    this.usedAt = Date.now()
    if (this.#listening) {
      onEnd()
      return rpcFailure(409, { message: 'Conflict: Only one SSE stream is allowed per session' })
    }
    this.#listening = new EventStream({
      headers: { 'mcp-session-id': this.sessionId },
      onEnd: () => {
        this.#listening = undefined
        // The client may come back: it lost the connection, not the session.
        this.usedAt = Date.now()
        onEnd()
      },
    })
    return this.#listening.response
  }

  #answered(id: RequestId, message?: object): void {
    const exchange = this.#open.get(id)
    this.#open.delete(id)
    this.usedAt = Date.now()
    exchange?.answer(message)
  }
}

export function isRequest({ method, id }: Record<string, unknown>): boolean {
  return typeof method === 'string' && (typeof id === 'string' || typeof id === 'number')
}
