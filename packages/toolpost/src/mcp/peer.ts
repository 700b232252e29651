import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import type { Requester } from '../tools/caller.ts'
import type { Progress } from '../tools/tool.ts'
import { isRecord, ownValue } from '../util/guards.ts'

/*
 * One side of a JSON-RPC connection, over any transport of the MCP SDK. Our client and our server both use it: they differ
 * only in the methods they know.
 */

export type Params = Readonly<Record<string, unknown>>
export type RequestId = string | number

/** A JSON-RPC error: received for our request, or thrown by a method to answer with this code. */
export class RpcError extends Error {
  override name = 'RpcError'
  /** Not named `code`, which classifies other errors. */
  readonly rpcCode: number | undefined
  readonly data: unknown

  constructor(message: string, { code, data }: { code?: unknown; data?: unknown } = {}) {
    super(message)
    this.rpcCode = Number.isSafeInteger(code) ? (code as number) : undefined
    this.data = data
  }
}

export const METHOD_NOT_FOUND = -32_601
export const INVALID_PARAMS = -32_602
const INTERNAL_ERROR = -32_603

interface IncomingRequest {
  readonly id: RequestId
  readonly method: string
  /** Aborts when the other side cancels the request, or the connection ends. */
  readonly signal: AbortSignal
  readonly extra: unknown
  notify(method: string, params?: object): void
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown>
}

/** Answers a request with its result; throws an RpcError to answer with that. */
export type Method = (params: Params, request: IncomingRequest) => unknown

export interface PeerOptions {
  /** The requests that are answered; any other gets "method not found". */
  methods?: Readonly<Record<string, Method>>
  /** Receives every notification except the cancellation and the progress of requests. */
  onNotification?(method: string, params: Params): void
  /** A response without a pending request; `isLate` if there was one. */
  onStray?(message: Params, isLate: boolean): void
  onError?(error: Error): void
  /** The connection has ended, before pending requests are rejected; returns what they are rejected with. */
  onClose?(): Error | undefined
}

export interface RequestOptions {
  signal?: AbortSignal | undefined
  /** Like a listener on `signal`, without the cost of a signal. */
  onAbort?: ((listener: () => void) => void) | undefined
  onProgress?: ((progress: Progress) => void) | undefined
  meta?: Params | undefined
  /** Passed to the transport, for example headers. */
  send?: TransportSendOptions | undefined
  /** Called with the id of the request before it is sent. */
  onSend?: ((id: number) => void) | undefined
  /** The caller that the request is made for. */
  from?: Requester | undefined
}

interface Pending extends Pick<RequestOptions, 'onProgress' | 'from'> {
  resolve(result: unknown): void
  reject(error: unknown): void
  readonly stream: AbortController | undefined
}

export class Peer {
  /** Sent in the `_meta` of every request and notification: protocol 2026-07-28 has no session to remember it. */
  envelope: Params | undefined
  readonly pending = new Map<number, Pending>()
  readonly #transport: Transport
  readonly #options: PeerOptions
  readonly #incoming = new Map<RequestId, AbortController>()
  #onIdle: (() => void)[] = []
  #nextId = 1
  #closed: Error | undefined

  constructor(transport: Transport, options: PeerOptions = {}) {
    this.#transport = transport
    this.#options = options
    transport.onmessage = (message, extra) => this.#receive(message as unknown as Params, extra)
    transport.onerror = error => options.onError?.(error)
    transport.onclose = () => this.#onClose()
  }

  start(): Promise<void> {
    return this.#transport.start()
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  /** Resolves when no request of a caller is pending. */
  async idle(): Promise<void> {
    while ([...this.pending.values()].some(({ from }) => from))
      await new Promise<void>(resolve => this.#onIdle.push(resolve))
  }

  /** Sends a request and resolves to its result; rejects with the signal's reason if that aborts first. */
  request(method: string, params: object = {}, options: RequestOptions = {}): Promise<unknown> {
    const { signal, onAbort, onProgress, meta, send, onSend, from } = options
    if (signal?.aborted || this.#closed) return Promise.reject(this.#closed ?? signal?.reason)
    const id = this.#nextId++
    const stream = this.#transport.hasPerRequestStream ? new AbortController() : undefined
    const result = new Promise<unknown>((resolve, reject) => {
      this.pending.set(id, { resolve, reject, onProgress, stream, from })
    })
    const own = onProgress ? { ...meta, progressToken: id } : meta
    const message = { jsonrpc: '2.0' as const, id, method, params: this.#withMeta(params, own) }
    onSend?.(id)
    this.#transport
      .send(message, stream ? { ...send, requestSignal: stream.signal } : send)
      .catch(error => this.fail(id, error))
    onAbort?.(() => this.#cancel(id, new Error('The caller gave up')))
    if (!signal) return result
    const giveUp = () => this.#cancel(id, signal.reason)
    signal.addEventListener('abort', giveUp)
    return result.finally(() => signal.removeEventListener('abort', giveUp))
  }

  /** Resolves when the notification was sent; never rejects. */
  async notify(method: string, params: object = {}, options?: TransportSendOptions): Promise<void> {
    if (this.#closed) return
    const message = { jsonrpc: '2.0' as const, method, params: this.#withMeta(params, undefined) }
    await this.#transport.send(message, options).catch(error => this.#options.onError?.(error))
  }

  #cancel(id: number, reason: unknown): void {
    const pending = this.#take(id)
    if (!pending) return
    // Over HTTP, protocol 2026-07-28 cancels a request by closing its stream.
    const isSaid = this.envelope !== undefined && pending.stream !== undefined
    if (!isSaid) void this.notify('notifications/cancelled', { requestId: id, reason: 'The caller gave up' })
    pending.stream?.abort()
    pending.reject(reason)
  }

  /** Rejects one pending request, or all of them; returns how many. */
  fail(id: number | undefined, error: unknown): number {
    const ids = id === undefined ? [...this.pending.keys()] : [id]
    const failed = ids.flatMap(each => this.#take(each) ?? [])
    for (const pending of failed) pending.reject(error)
    return failed.length
  }

  #take(id: number): Pending | undefined {
    const pending = this.pending.get(id)
    this.pending.delete(id)
    if (this.#onIdle.length > 0) for (const tell of this.#onIdle.splice(0)) tell()
    return pending
  }

  #withMeta(params: object, meta: Params | undefined): Record<string, unknown> {
    if (!meta && !this.envelope) return params as Record<string, unknown>
    return { ...params, _meta: { ...(params as { _meta?: object })._meta, ...meta, ...this.envelope } }
  }

  #receive(message: Params, extra: unknown): void {
    const { method, id } = message
    const params = isRecord(message.params) ? message.params : {}
    if (typeof method !== 'string') this.#onResponse(message)
    else if (typeof id === 'string' || typeof id === 'number') void this.#answer(id, method, params, extra)
    else if (method === 'notifications/cancelled') this.#onCancelled(params)
    else if (method === 'notifications/progress') this.#onProgress(params)
    else this.#options.onNotification?.(method, params)
  }

  #onResponse(message: Params): void {
    // Our ids are numbers; some servers send them back as text.
    const id = typeof message.id === 'string' ? Number(message.id) : (message.id as number)
    const pending = this.#take(id)
    if (!pending) this.#options.onStray?.(message, id > 0 && id < this.#nextId)
    else if (message.error === undefined || message.error === null) pending.resolve(message.result)
    else pending.reject(rpcErrorOf(message.error))
  }

  #onProgress({ progressToken, progress, total, message }: Params): void {
    if (typeof progress !== 'number') return
    this.pending.get(Number(progressToken ?? Number.NaN))?.onProgress?.({
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    })
  }

  #onCancelled({ requestId, reason }: Params): void {
    const why = new Error(typeof reason === 'string' ? reason : 'The request was cancelled')
    this.#incoming.get(requestId as RequestId)?.abort(why)
  }

  async #answer(id: RequestId, method: string, params: Params, extra: unknown): Promise<void> {
    const controller = new AbortController()
    this.#incoming.set(id, controller)
    const send = { relatedRequestId: id }
    let answer: object
    try {
      const known = ownValue(this.#options.methods ?? {}, method)
      if (!known) throw new RpcError(`Method not found: ${method.slice(0, 100)}`, { code: METHOD_NOT_FOUND })
      const result = await known(params, {
        id,
        method,
        signal: controller.signal,
        extra,
        notify: (name, given) => void this.notify(name, given, send),
        request: (name, given, options) => this.request(name, given, { ...options, send }),
      })
      answer = { result: result ?? {} }
    } catch (error) {
      answer = { error: errorOf(error) }
    }
    // A reused id belongs to the newer request.
    if (this.#incoming.get(id) === controller) this.#incoming.delete(id)
    if (controller.signal.aborted || this.#closed) return
    const message = { jsonrpc: '2.0', id, ...answer } as JSONRPCMessage
    await this.#transport.send(message, send).catch(error => this.#options.onError?.(error))
  }

  #onClose(): void {
    if (this.#closed) return
    this.#closed = new Error('Connection closed')
    const error = this.#options.onClose?.() ?? this.#closed
    for (const controller of this.#incoming.values()) controller.abort(error)
    this.fail(undefined, error)
  }
}

/** A thrown error as it is sent. The errors of the MCP SDK have their code in `code`. */
export function errorOf(error: unknown): { code: number; message: string; data?: unknown } {
  const { message, rpcCode, code, data } = isRecord(error) ? error : { message: error }
  const known = [rpcCode, code].find(Number.isSafeInteger) as number | undefined
  return { code: known ?? INTERNAL_ERROR, message: String(message), ...(data !== undefined && { data }) }
}

/** An error as received, with the other side's own message, or ours if it has none. */
export function rpcErrorOf(error: unknown): RpcError {
  const { message, code, data } = isRecord(error) ? error : { message: error }
  const shownCode = typeof code === 'number' ? ` (code ${code})` : ''
  const isGiven = typeof message === 'string' && message.trim() !== ''
  const text = isGiven ? message : `The request was rejected without a reason${shownCode}`
  return new RpcError(text, { code, data })
}
