import {
  type HandleRequestOptions,
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { MAX_WAITING_BYTES } from '../limits.ts'
import { rpcFailure } from './rpc-failure.ts'

/** The SDK's transport of one session, which also tracks unanswered requests and listening clients. */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  /** Unanswered requests, with how many came in the same message. */
  readonly #pending = new Map<RequestId, number>()
  #streams = 0
  usedAt = Date.now()

  /** Whether it has pending requests or open streams. */
  get isBusy(): boolean {
    return this.#pending.size > 0 || this.#streams > 0
  }

  override async handleRequest(request: Request, options: HandleRequestOptions = {}): Promise<Response> {
    this.usedAt = Date.now()
    const ids = requestIds(options.parsedBody)
    const taken = ids.find((id, at) => this.#pending.has(id) || ids.indexOf(id) !== at)
    // The SDK routes a response by its id alone: both responses would go to the later request.
    if (taken !== undefined)
      return rpcFailure(400, `Invalid Request: id ${JSON.stringify(taken)} is already in use`, { id: taken })
    for (const id of ids) this.#pending.set(id, ids.length)
    const response = await super.handleRequest(request, options)
    if (!isStream(response)) for (const id of ids) this.#pending.delete(id)
    this.#forgetCancelled(options.parsedBody)
    return request.method === 'GET' && isStream(response) ? this.#watched(response) : response
  }

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    if (!('method' in message) && message.id !== undefined) {
      this.#pending.delete(message.id)
      this.usedAt = Date.now()
    }
    await super.send(message, options)
  }

  /** A cancelled request is never answered, and the SDK would keep its stream and id forever. */
  #forgetCancelled(message: unknown): void {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { requestId?: RequestId } }
    const id = params?.requestId
    if (method !== 'notifications/cancelled' || id === undefined || this.#pending.get(id) !== 1) return
    this.closeSSEStream(id)
    this.send({ jsonrpc: '2.0', id, error: { code: -32_800, message: 'Cancelled' } }).catch(() => {})
  }

  /** The stream of a listening client: counted, and cut off if the client does not read. */
  #watched(response: Response): Response {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    this.#streams++
    const end = () => {
      this.#streams--
      // The client may come back: it lost the connection, not the session.
      this.usedAt = Date.now()
    }
    const body = new ReadableStream<Uint8Array>(
      {
        start: controller => void relay(reader, controller).finally(end),
        cancel: reason => reader.cancel(reason),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
    )
    return new Response(body, response)
  }
}

/** Never rejects. */
async function relay(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  controller: ReadableStreamDefaultController<Uint8Array>,
): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return controller.close()
      if ((controller.desiredSize ?? 0) <= 0) throw new Error('The client reads too slowly')
      controller.enqueue(value)
    }
  } catch (error) {
    controller.error(error)
    await reader.cancel(error).catch(() => {})
  }
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

function requestIds(body: unknown): RequestId[] {
  const messages: unknown[] = Array.isArray(body) ? body : [body]
  return messages.flatMap(message => {
    const { id, method } = (message ?? {}) as { id?: unknown; method?: unknown }
    return typeof method === 'string' && (typeof id === 'string' || typeof id === 'number') ? [id] : []
  })
}
