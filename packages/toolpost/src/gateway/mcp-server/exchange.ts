import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server'
import type { RequestId } from '../../mcp/peer.ts'
import { EVENT_STREAM_HEADERS, json } from '../http.ts'
import { HEARTBEAT_MS, MAX_WAITING_BYTES } from '../limits.ts'
import { type McpRequest, messageText, rpcFailure } from './protocol.ts'

/** A stream of messages to a client. Those of one moment are sent together; a client that does not read is cut off. */
export class MessageStream {
  readonly response: Response
  readonly #encoder = new TextEncoder()
  readonly #heartbeat: NodeJS.Timeout
  readonly #onEnd: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #text = ''

  constructor(headers: Record<string, string>, onEnd: () => void) {
    this.#onEnd = onEnd
    const body = new ReadableStream<Uint8Array>(
      {
        start: controller => {
          this.#controller = controller
        },
        cancel: () => this.#end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
    )
    this.#heartbeat = setInterval(() => this.#write(': still here\n\n'), HEARTBEAT_MS).unref()
    this.response = new Response(body, { headers: { ...EVENT_STREAM_HEADERS, ...headers } })
  }

  send(message: object): void {
    this.#write(`event: message\ndata: ${messageText(message)}\n\n`)
  }

  close(): void {
    this.#flush()
    const controller = this.#controller
    this.#end()
    controller?.close()
  }

  #write(text: string): void {
    if (this.#text === '') setImmediate(() => this.#flush())
    this.#text += text
  }

  #flush(): void {
    const controller = this.#controller
    const text = this.#text
    this.#text = ''
    if (!controller || text === '') return
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(this.#encoder.encode(text))
    this.#end()
    controller.error(new Error('The client reads too slowly'))
  }

  #end(): void {
    if (!this.#controller) return
    this.#controller = undefined
    clearInterval(this.#heartbeat)
    this.#onEnd()
  }
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
  #stream: MessageStream | undefined
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
    if (this.#open > 0) this.#toStream().send(message)
  }

  /** The answer to one of the requests; without a message, it gets none. */
  answer(message?: object, status = 200): void {
    if (this.#open === 0) return
    this.#open--
    if (message && this.#stream) this.#stream.send(message)
    else if (message) this.#answers.push(message)
    if (this.#open > 0) return
    clearTimeout(this.#timer)
    if (this.#stream || this.#answers.length === 0) return this.#toStream().close()
    const { isBatch, headers } = this.#options
    if (isBatch) return this.#respond(json(this.#answers, status, headers))
    const text = messageText(this.#answers[0] as object)
    this.#respond(new Response(text, { status, headers: { ...JSON_HEADERS, ...headers } }))
  }

  #toStream(): MessageStream {
    if (this.#stream) return this.#stream
    const { headers = {}, onGone } = this.#options
    const stream = new MessageStream(headers, () => this.#open > 0 && onGone?.())
    this.#stream = stream
    for (const answer of this.#answers.splice(0)) stream.send(answer)
    this.#respond(stream.response)
    return stream
  }
}

const JSON_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
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
  #listening: MessageStream | undefined

  constructor(sessionId: string) {
    this.sessionId = sessionId
  }

  /** Whether it has unanswered requests or a listening client. */
  get isBusy(): boolean {
    return this.#open.size > 0 || this.#listening !== undefined
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message) {
      const exchange = this.#open.get(options?.relatedRequestId as RequestId)
      if (exchange) exchange.send(message)
      else this.#listening?.send(message)
      return
    }
    this.#answered(message.id as RequestId, message)
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
    if (taken !== undefined)
      return rpcFailure(
        400,
        { message: `Invalid Request: id ${JSON.stringify(taken)} is already in use` },
        { id: taken },
      )
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
    if (this.#listening)
      return rpcFailure(409, { message: 'Conflict: Only one SSE stream is allowed per session' })
    const stream = new MessageStream({ 'mcp-session-id': this.sessionId }, () => {
      this.#listening = undefined
      // The client may come back: it lost the connection, not the session.
      this.usedAt = Date.now()
      onEnd()
    })
    this.#listening = stream
    return stream.response
  }

  #answered(id: RequestId, message?: object): void {
    const exchange = this.#open.get(id)
    this.#open.delete(id)
    this.usedAt = Date.now()
    exchange?.answer(message)
  }
}

export function isRequest(message: Record<string, unknown>): boolean {
  return (
    typeof message.method === 'string' && (typeof message.id === 'string' || typeof message.id === 'number')
  )
}
