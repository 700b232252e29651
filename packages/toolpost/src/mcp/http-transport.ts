import { AsyncLocalStorage } from 'node:async_hooks'
import { STATUS_CODES } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { isRecord } from '../util/guards.ts'
import { basicCredentials } from '../util/text.ts'
import { JsonCounter, jsonProblem, TOO_MANY_VALUES } from './json-limit.ts'
import { FAILED_MAX_RETRY_MS, MAX_ANSWERS, MAX_MESSAGE_BYTES } from './limits.ts'
import { limitedBytes } from './oauth/oauth-fetch.ts'
import type { ServerLogin } from './oauth/server-login.ts'
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

/** How much of the body of a refused request is read, and how much of it is shown. */
const MAX_REFUSAL_BYTES = 64 * 1024
const SHOWN_CHARACTERS = 300
const GOODBYE_MS = 500

/** Loaded for the first connection over HTTP: it takes longer to load than the rest of a short program. */
export function loadSdk(): Promise<typeof import('@modelcontextprotocol/client')> {
  return import('@modelcontextprotocol/client')
}

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
export function currentRequestId(): number | undefined {
  const id = exchanges.getStore()?.id
  return typeof id === 'number' ? id : undefined
}

/** A request that the server refused with an HTTP status. */
export class HttpStatusError extends Error {
  override name = 'HttpStatusError'
  readonly status: number
  /** The server's Retry-After, given in seconds or as a date. */
  readonly retryAfterMs: number | undefined

  constructor({ status, statusText, headers }: Response, text: string) {
    const body = text.trim().slice(0, SHOWN_CHARACTERS)
    super(`HTTP ${status} ${statusText || STATUS_CODES[status] || ''}`.trim() + (body && `: ${body}`))
    this.status = status
    const after = headers.get('retry-after') ?? ''
    const ms = /^\d{1,9}$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now()
    this.retryAfterMs = Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), FAILED_MAX_RETRY_MS)
  }
}

export interface HttpTransportOptions {
  login: ServerLogin | undefined
  onMessage(direction: 'sent' | 'received', message: object): void
  isSse: boolean
}

type InnerTransport = Transport & { terminateSession?(): Promise<void> }

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
  failure: ServerFailure | undefined
  readonly pid = undefined
  readonly stderr = ''
  /** Whether the handshake is over: before, an error says nothing about the connection. */
  isReady = false
  /** Over the older HTTP+SSE, all answers come on one stream. */
  readonly hasPerRequestStream: boolean
  readonly #inner: InnerTransport
  readonly #onMessage: HttpTransportOptions['onMessage']
  #answers = 0

  static async create(entry: HttpServerEntry, options: HttpTransportOptions): Promise<HttpTransport> {
    const { SSEClientTransport, StreamableHTTPClientTransport } = await loadSdk()
    const url = new URL(entry.url)
    const { username, password } = url
    const headers = new Headers(entry.headers)
    // fetch rejects user and password in a URL.
    if ((username || password) && !headers.has('authorization'))
      headers.set('authorization', `Basic ${basicCredentials(username, password)}`)
    url.username = url.password = ''
    const fetch = limitedFetch(entry.maxLineBytes ?? MAX_MESSAGE_BYTES, options)
    const more = { requestInit: { headers: Object.fromEntries(headers) }, fetch }
    const Inner = options.isSse ? SSEClientTransport : StreamableHTTPClientTransport
    return new HttpTransport(new Inner(url, more), options)
  }

  private constructor(inner: InnerTransport, { isSse, onMessage }: HttpTransportOptions) {
    this.#inner = inner
    this.#onMessage = onMessage
    this.hasPerRequestStream = !isSse
    inner.onmessage = message => this.#receive(message as JSONRPCMessage)
    inner.onerror = error => this.#onError(error)
    inner.onclose = () => this.lose('the server closed the connection')
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  start(): Promise<void> {
    return exchanges.run({ id: undefined }, () => this.#inner.start())
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.failure) throw new ServerLostError(this.failure.cause, { neverSent: true })
    const id = 'method' in message && 'id' in message ? message.id : undefined
    const exchange: Exchange = { id, isCall: 'method' in message && message.method === 'tools/call' }
    const isAnswer = !('method' in message)
    if (isAnswer && this.#answers >= MAX_ANSWERS) return
    if (isAnswer) this.#answers++
    this.#onMessage('sent', message)
    try {
      await exchanges.run(exchange, () => this.#inner.send(message, options))
    } catch (error) {
      throw options?.requestSignal?.aborted ? error : this.#explain(error)
    } finally {
      if (isAnswer) this.#answers--
    }
    const isOver = this.hasPerRequestStream && !exchange.isStream && !exchange.isAnswered
    if (id !== undefined && isOver)
      throw new UnusableAnswerError('Malformed MCP result: response id matches no pending request')
  }

  #receive(message: JSONRPCMessage): void {
    const exchange = exchanges.getStore()
    if (exchange && 'id' in message && message.id === exchange.id) exchange.isAnswered = true
    this.#onMessage('received', message)
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
    // A new stream of HTTP+SSE would be a new session, which knows nothing of this one.
    if ('event' in error) return this.lose(describeError(error))
    this.onerror?.(error)
  }

  /** What a failed request means for its call, and for the connection. */
  #explain(error: unknown): unknown {
    const unusable = malformed(error)
    if (unusable || !this.isReady) return unusable ?? error
    const login = neededLogin(error)
    if (login?.lacksScope) return login
    const { status, retryAfterMs, name } = (error ?? {}) as Partial<HttpStatusError>
    const isExpired = status === 404 || (status === 410 && this.sessionId !== undefined)
    const isGone =
      status === undefined
        ? error instanceof TypeError || name === 'AbortError'
        : status >= 502 && status <= 504
    if (login) this.lose(login.message, { needsLogin: true })
    else if (isExpired) this.lose('session expired on the server')
    else if (isGone) this.lose(describeError(error), { retryAfterMs })
    else return new ToolFailureError('tool_error', describeError(error), { retryAfterMs })
    const neverSent = login !== undefined || isExpired || isRefusedConnection(error)
    return new ServerLostError(this.failure?.cause ?? '', { neverSent })
  }

  /** Nothing more can be sent. What is pending may still be answered until the transport is closed. */
  lose(cause: string, more: Partial<ServerFailure> = {}): void {
    if (this.failure) return
    this.failure = failureWith(cause, more)
    this.onlost?.(this.failure)
  }

  /** Ends the session, if there is one: best effort, it must not hold anything up. */
  async close(): Promise<void> {
    const goodbye = this.failure ? undefined : this.#inner.terminateSession?.().catch(() => {})
    this.failure ??= failureWith('the connection was closed')
    this.onclose?.()
    if (goodbye) await Promise.race([goodbye, pause(GOODBYE_MS, undefined, { ref: false })])
    await this.#inner.close().catch(() => {})
  }
}

/** The `fetch` of a connection: no message exceeds the limits (after decompression), and refusals keep their details. */
function limitedFetch(maxBytes: number, { login, isSse }: HttpTransportOptions) {
  /** Where the server redirected the handshake: calls go there directly. */
  const moved = new Map<string, string>()
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const exchange = exchanges.getStore()
    const once: RequestInit = { ...init, redirect: 'manual' }
    const target = moved.get(String(url)) ?? String(url)
    const response = await (login ? login.fetch(target, once) : fetch(target, once))
    const { status, headers, body } = response
    const location = status >= 300 && status < 400 ? headers.get('location') : null
    if (location !== null && URL.canParse(location, target)) {
      const { href, origin, pathname } = new URL(location, target)
      const problem = `the server redirects to ${origin}${pathname}; calls are never sent twice`
      if (exchange?.isCall) throw new HttpStatusError(response, problem)
      if (origin === new URL(target).origin && status >= 307) moved.set(String(url), href)
    }
    const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
    if (status >= 400) return refused(response, exchange)
    if (type === 'text/event-stream' && body) {
      if (exchange && init.method === 'POST') exchange.isStream = true
      return new Response(body.pipeThrough(limitedEvents(maxBytes)), { headers })
    }
    if (status >= 300 || exchange?.id === undefined || isSse) {
      void body?.cancel().catch(() => {})
      return new Response(null, { status, headers })
    }
    const bytes = await limitedBytes(response, maxBytes).catch(() => {
      throw new TypeError('the connection was lost')
    })
    const text = bytes?.toString('utf8')
    const problem = text === undefined ? tooLong(maxBytes) : jsonProblem(text)
    if (problem) throw new UnusableAnswerError(`The server's answer ${problem}`)
    if (type === 'application/json' && text?.trim()) return new Response(text, { headers })
    throw new UnusableAnswerError(`The server answered ${status} without a result${type ? ` (${type})` : ''}`)
  }
}

/** A JSON-RPC error is passed on as such; a 405 to a stream means something to the SDK. */
async function refused(response: Response, exchange: Exchange | undefined): Promise<Response> {
  const { status, headers } = response
  const text = String((await limitedBytes(response, MAX_REFUSAL_BYTES).catch(() => undefined)) ?? '')
  if (status === 405 && exchange?.id === undefined) return new Response(null, { status, headers })
  try {
    const message: unknown = status === 400 ? JSON.parse(text) : undefined
    if (isRecord(message) && isRecord(message.error) && message.id === exchange?.id)
      return new Response(text, { headers })
  } catch {
    // Not JSON.
  }
  throw new HttpStatusError(response, text)
}

const [NEWLINE, RETURN] = [10, 13]

/** Passes on a stream of events, and breaks it off at an event that is too large. Events are separated by empty lines. */
function limitedEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let [bytes, isLineEmpty, counter] = [0, true, new JsonCounter()]
  return new TransformStream({
    transform(chunk, controller) {
      let start = 0
      const count = (end: number) => {
        bytes += end - start
        const isTooMany = counter.add(chunk.subarray(start, end))
        start = end
        if (bytes <= maxBytes && !isTooMany) return
        throw new UnusableAnswerError(
          `The server's answer ${isTooMany ? TOO_MANY_VALUES : tooLong(maxBytes)}`,
        )
      }
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
        const isBlank = isLineEmpty && (at === start || (at === start + 1 && chunk[start] === RETURN))
        count(at + 1)
        isLineEmpty = true
        if (isBlank) [bytes, counter] = [0, new JsonCounter()]
      }
      if (start < chunk.length) isLineEmpty = false
      count(chunk.length)
      controller.enqueue(chunk)
    },
  })
}

/** An answer that is not JSON-RPC, or over the limits. */
function malformed(error: unknown): UnusableAnswerError | undefined {
  if (error instanceof UnusableAnswerError) return error
  const { name = '', message = '' } = (error ?? {}) as Partial<Error>
  // The SDK wraps the errors of a stream in a text.
  const own = message.indexOf("The server's answer")
  if (own >= 0) return new UnusableAnswerError(message.slice(own))
  const problem = name === 'SyntaxError' ? 'the server sent invalid JSON' : 'not JSON-RPC 2.0'
  return /^SyntaxError$|ZodError$/.test(name)
    ? new UnusableAnswerError(`Malformed MCP message: ${problem}`)
    : undefined
}

/** Whether no connection was established, so that the call cannot have reached the server. */
function isRefusedConnection(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes((cause as NodeJS.ErrnoException).code ?? ''))
      return true
  return false
}
