import { AsyncLocalStorage } from 'node:async_hooks'
import { STATUS_CODES } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { isRecord } from '../runtime/guards.ts'
import { basicCredentials } from '../runtime/uri-decoded.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { JsonCounter, jsonProblem, TOO_MANY_VALUES } from './json-limit.ts'
import {
  GOODBYE_MS,
  HTTP_ERROR_CHARACTERS,
  MAX_MESSAGE_BYTES,
  MAX_RETRY_AFTER_MS,
  MIN_RESUME_DELAY_MS,
  RECONNECT_MAX_DELAY_MS,
} from './limits.ts'
import { authorizedFetch, type ServerLogin } from './oauth/server-login.ts'
import type { HttpServerEntry } from './server-entry.ts'
import {
  describeError,
  failureWith,
  neededLogin,
  type ServerFailure,
  ServerLostError,
  tooLong,
  UnusableAnswerError,
} from './server-failure.ts'

/** Loaded for the first connection over HTTP: it takes longer to load than the rest of a short program. */
export function loadSdk(): Promise<typeof import('@modelcontextprotocol/client')> {
  return import('@modelcontextprotocol/client')
}

/** Streamable HTTP, or the HTTP+SSE transport before it. */
export type HttpKind = 'streamable' | 'sse'

/** A request with its response, whether that is a body or a stream. */
interface Exchange {
  readonly id: number | string | undefined
  readonly isCall?: boolean
  /** Whether the response is a stream, which may end without an answer. */
  isStream?: boolean
  isAnswered?: boolean
}

/** The exchange that a `fetch` and the messages on its stream belong to, also after the stream was resumed. */
const exchanges = new AsyncLocalStorage<Exchange>()

/** The request on whose stream a message arrives, if any. */
export function currentRequestId(): number | string | undefined {
  return exchanges.getStore()?.id
}

/** A request that the server refused with an HTTP status. */
export class HttpStatusError extends Error {
  override name = 'HttpStatusError'
  readonly status: number
  /** The server's Retry-After. */
  readonly retryAfterMs: number | undefined

  constructor({ status, statusText, headers }: Response, text: string) {
    const reason = statusText || STATUS_CODES[status] || ''
    const body = text.trim().slice(0, HTTP_ERROR_CHARACTERS)
    super(`HTTP ${status} ${reason}`.trim() + (body === '' ? '' : `: ${body}`))
    this.status = status
    this.retryAfterMs = retryAfterMs(headers.get('retry-after'))
  }
}

/** Given in seconds or as a date. */
function retryAfterMs(after: string | null): number | undefined {
  if (after === null) return undefined
  const ms = /^\d{1,9}$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS)
}

export interface HttpTransportOptions {
  login: ServerLogin | undefined
  /** Every message, for the record. */
  onMessage(direction: 'sent' | 'received', message: object): void
}

/**
 * The SDK's transport, with limits on what a server may send, and errors that say what they mean for a request and for the
 * connection.
 */
export class HttpTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport['onmessage']
  /** Called once if the connection is lost; whoever listens closes it. */
  onlost: ((failure: ServerFailure) => void) | undefined
  /** Why the connection was lost, once it was. */
  failure: ServerFailure | undefined
  readonly kind: HttpKind
  readonly #inner: Transport & { terminateSession?: () => Promise<void> }
  readonly #options: HttpTransportOptions
  /** Whether the handshake is over: before, an error says nothing about the connection. */
  isReady = false

  static async create(
    entry: HttpServerEntry,
    kind: HttpKind,
    options: HttpTransportOptions,
  ): Promise<HttpTransport> {
    const { SSEClientTransport, StreamableHTTPClientTransport } = await loadSdk()
    const { url, headers } = splitCredentials(entry)
    const fetch = limitedFetch(entry.maxLineBytes ?? MAX_MESSAGE_BYTES, kind, options.login)
    const more = { requestInit: { headers }, fetch }
    const inner =
      kind === 'sse'
        ? new SSEClientTransport(url, more)
        : new StreamableHTTPClientTransport(url, { ...more, reconnectionScheduler })
    return new HttpTransport(inner, kind, options)
  }

  private constructor(inner: Transport, kind: HttpKind, options: HttpTransportOptions) {
    this.#inner = inner
    this.kind = kind
    this.#options = options
    inner.onmessage = message => this.#receive(message as JSONRPCMessage)
    inner.onerror = error => this.#onError(error)
    inner.onclose = () => this.lose('the server closed the connection')
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  get hasPerRequestStream(): boolean {
    return this.kind === 'streamable'
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  start(): Promise<void> {
    return exchanges.run({ id: undefined }, () => this.#inner.start())
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.failure) throw new ServerLostError(this.failure.cause, { neverSent: true })
    const isRequest = 'method' in message && 'id' in message
    const exchange: Exchange = isRequest
      ? { id: message.id, isCall: message.method === 'tools/call' }
      : { id: undefined }
    this.#options.onMessage('sent', message)
    try {
      await exchanges.run(exchange, () => this.#inner.send(message, options))
    } catch (error) {
      throw options?.requestSignal?.aborted ? error : this.#explain(error)
    }
    const isOver = this.kind === 'streamable' && !exchange.isStream && !exchange.isAnswered
    if (exchange.id !== undefined && isOver)
      throw new UnusableAnswerError('Malformed MCP result: response id matches no pending request')
  }

  #receive(message: JSONRPCMessage): void {
    const exchange = exchanges.getStore()
    if (exchange && 'id' in message && message.id === exchange.id) exchange.isAnswered = true
    this.#options.onMessage('received', message)
    this.onmessage?.(message)
  }

  /** An error of a request reaches the request, too; what is left concerns a stream. */
  #onError(error: Error): void {
    const exchange = exchanges.getStore()
    if (exchange?.id !== undefined && !exchange.isStream) return
    const unusable = malformed(error)
    if (unusable) return this.onerror?.(unusable)
    if (!this.isReady || this.failure) return
    const login = neededLogin(error)
    // After the request it may concern has failed.
    if (login) return void setImmediate(() => this.lose(login.message, { needsLogin: true }))
    // A broken SSE stream: a new one would be a new session, which knows nothing of this one.
    if ('event' in error) return this.lose(describeError(error))
    this.onerror?.(error)
  }

  /** What a failed request means for its call, and for the connection. */
  #explain(error: unknown): unknown {
    const unusable = error instanceof UnusableAnswerError ? error : malformed(error)
    if (unusable || !this.isReady) return unusable ?? error
    const login = neededLogin(error)
    if (login?.lacksScope) return login
    if (login) return this.#lost(login.message, { needsLogin: true }, true)
    const { status, retryAfterMs } = (error ?? {}) as Partial<HttpStatusError>
    if (status === 404 || (status === 410 && this.sessionId !== undefined))
      return this.#lost('session expired on the server', {}, true)
    const isGone =
      status === undefined ? error instanceof TypeError || isAbort(error) : status >= 502 && status <= 504
    if (isGone) return this.#lost(describeError(error), { retryAfterMs }, isRefusedConnection(error))
    return new ToolFailureError('tool_error', describeError(error), { retryAfterMs })
  }

  #lost(cause: string, more: Partial<ServerFailure>, neverSent: boolean): ServerLostError {
    this.lose(cause, more)
    return new ServerLostError(cause, { neverSent })
  }

  /** Nothing more can be sent. What is pending may still be answered until the transport is closed. */
  lose(cause: string, more: Partial<ServerFailure> = {}): void {
    if (this.failure) return
    this.failure = { ...failureWith(cause), ...more }
    this.onlost?.(this.failure)
  }

  /** Ends the session, if there is one: best effort, it must not hold anything up. */
  async close(): Promise<void> {
    const goodbye = this.failure ? undefined : this.#inner.terminateSession?.().catch(() => {})
    this.failure ??= failureWith('the connection was closed')
    const { onclose } = this
    this.onclose = undefined
    onclose?.()
    if (goodbye) await Promise.race([goodbye, pause(GOODBYE_MS, undefined, { ref: false })])
    await this.#inner.close().catch(() => {})
  }
}

/** A server may say how soon a broken stream is resumed, but not "immediately, forever". */
function reconnectionScheduler(reconnect: () => void, delayMs: number): () => void {
  const timer = setTimeout(
    reconnect,
    Math.min(Math.max(delayMs, MIN_RESUME_DELAY_MS), RECONNECT_MAX_DELAY_MS),
  )
  return () => clearTimeout(timer)
}

/** Moves user and password, which fetch rejects in a URL, into a header, unless one is configured. */
function splitCredentials({ url, headers }: HttpServerEntry): { url: URL; headers: Record<string, string> } {
  const bare = new URL(url)
  const { username, password } = bare
  const all = new Headers(headers)
  if ((username || password) && !all.has('authorization'))
    all.set('authorization', `Basic ${basicCredentials(username, password)}`)
  bare.username = bare.password = ''
  return { url: bare, headers: Object.fromEntries(all) }
}

/** The `fetch` of a connection: no message exceeds the limits (after decompression), and refusals keep their details. */
function limitedFetch(maxBytes: number, kind: HttpKind, login: ServerLogin | undefined) {
  const send = login ? authorizedFetch(login) : fetch
  /** Where the server redirected the handshake: calls go there directly. */
  let moved: { from: string; to: string } | undefined
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const exchange = exchanges.getStore()
    const target = moved?.from === String(url) ? moved.to : String(url)
    const response = await send(target, { ...init, redirect: 'manual' })
    const { status, headers, body } = response
    const location = redirectOf(response, target)
    if (location && exchange?.isCall) {
      const place = `${location.origin}${location.pathname}`
      throw new HttpStatusError(response, `the server redirects to ${place}; calls are never sent twice`)
    }
    if (location?.origin === new URL(target).origin && (status === 307 || status === 308))
      moved = { from: moved?.to === target ? moved.from : target, to: location.href }
    const isJson = isOfType(headers, 'application/json')
    if (status >= 400) return refused(response, init.method === 'POST' && isJson)
    if (isOfType(headers, 'text/event-stream') && body) {
      if (exchange && init.method === 'POST') exchange.isStream = true
      return new Response(body.pipeThrough(limitedEvents(maxBytes)), { headers })
    }
    if (status >= 300 || exchange?.id === undefined || kind === 'sse') {
      void body?.cancel().catch(() => {})
      return new Response(null, { status, headers })
    }
    if (!isJson) throw withoutResult(response)
    const text = await textUpTo(response, maxBytes)
    const problem = text === undefined ? tooLong(maxBytes) : jsonProblem(text)
    if (problem) throw new UnusableAnswerError(`The server's answer ${problem}`)
    if (text?.trim() === '') throw withoutResult(response)
    return new Response(text, { headers })
  }
}

function redirectOf({ status, headers }: Response, from: string): URL | undefined {
  const location = headers.get('location')
  if (status < 300 || status > 399 || location === null || !URL.canParse(location, from)) return undefined
  return new URL(location, from)
}

function isOfType(headers: Headers, type: string): boolean {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === type
}

function withoutResult({ status, headers, body }: Response): UnusableAnswerError {
  const type = headers.get('content-type')?.split(';')[0]
  void body?.cancel().catch(() => {})
  return new UnusableAnswerError(`The server answered ${status} without a result${type ? ` (${type})` : ''}`)
}

/** A JSON-RPC error is passed on as such, whatever its status; some statuses of a stream mean something to the SDK. */
async function refused(response: Response, isJson: boolean): Promise<Response> {
  const text = (await textUpTo(response, MAX_REFUSAL_BYTES, true).catch(() => '')) ?? ''
  const { status, statusText, headers } = response
  const exchange = exchanges.getStore()
  const isOwn = isJson && status === 400 && isErrorOf(text, exchange)
  if (isOwn) return new Response(text, { headers })
  if (status === 405 && exchange?.id === undefined) return new Response(text, { status, statusText, headers })
  throw new HttpStatusError(response, text)
}

function isErrorOf(text: string, exchange: Exchange | undefined): boolean {
  try {
    const message: unknown = JSON.parse(text)
    return isRecord(message) && isRecord(message.error) && message.id === exchange?.id
  } catch {
    return false
  }
}

/** The whole body, or `undefined` if it is longer; with `cut`, its beginning. */
async function textUpTo({ body }: Response, maxBytes: number, cut = false): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.length
      if (bytes > maxBytes && !cut) return undefined
      chunks.push(chunk)
      // Leaving the loop cancels the stream.
      if (bytes > maxBytes) break
    }
  } catch {
    throw new TypeError('the connection was lost')
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

const MAX_REFUSAL_BYTES = 64 * 1024
const [NEWLINE, RETURN] = [10, 13]

/** Passes on a stream of events, and breaks it off at an event that is too large. */
function limitedEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  let isLineEmpty = true
  let counter = new JsonCounter()
  return new TransformStream({
    transform(chunk, controller) {
      let start = 0
      const check = (end: number) => {
        const part = chunk.subarray(start, end)
        bytes += part.length
        const isTooMuch = counter.add(part)
        if (bytes <= maxBytes && !isTooMuch) return
        const problem = isTooMuch ? TOO_MANY_VALUES : tooLong(maxBytes)
        throw new UnusableAnswerError(`The server's answer ${problem}`)
      }
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
        const isBlank = isLineEmpty && isBlankBefore(chunk, at, start)
        check(at + 1)
        start = at + 1
        isLineEmpty = true
        if (!isBlank) continue
        bytes = 0
        counter = new JsonCounter()
      }
      if (start < chunk.length) isLineEmpty = false
      check(chunk.length)
      controller.enqueue(chunk)
    },
  })
}

/** Whether nothing but a carriage return is between `start` and `end`. */
function isBlankBefore(chunk: Uint8Array, end: number, start: number): boolean {
  return end === start || (end === start + 1 && chunk[start] === RETURN)
}

/** An answer that is not JSON-RPC. */
function malformed(error: unknown): UnusableAnswerError | undefined {
  const { name, message } = (error ?? {}) as Error
  if (message?.includes("The server's answer"))
    return new UnusableAnswerError(message.replace(/^.*?(?=The server's)/, ''))
  if (name === 'SyntaxError')
    return new UnusableAnswerError('Malformed MCP message: the server sent invalid JSON')
  if (name === 'ZodError' || name === '$ZodError')
    return new UnusableAnswerError('Malformed MCP message: not JSON-RPC 2.0')
  return undefined
}

function isAbort(error: unknown): boolean {
  return (error as Error | undefined)?.name === 'AbortError'
}

/** Whether no connection was established, so that the call cannot have reached the server. */
function isRefusedConnection(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes((cause as NodeJS.ErrnoException).code ?? ''))
      return true
  return false
}
