import { AsyncLocalStorage } from 'node:async_hooks'
import { STATUS_CODES } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { isRecord } from '../util/guards.ts'
import { basicCredentials } from '../util/text.ts'
import { jsonProblem, parsedJson } from './json-limit.ts'
import { MAX_ANSWERS, MAX_MESSAGE_BYTES, MAX_RETRY_MS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import type { MessageLog } from './message-log.ts'
import type { ServerLogin } from './oauth/logins.ts'
import { limitedBytes } from './oauth/oauth-fetch.ts'
import type { HttpServerEntry } from './server-entry.ts'
import { describeError, failureIn, ServerFailure, tooLong } from './server-failure.ts'

/** How much of the body of a refused request is read, and how much of it is shown. */
const MAX_REFUSAL_BYTES = 64 * 1024
const SHOWN_CHARACTERS = 300
const GOODBYE_MS = 500
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']

/** Loaded for the first connection over HTTP: it takes longer to load than the rest of a short program. */
export function loadSdk(): Promise<typeof import('@modelcontextprotocol/client')> {
  return import('@modelcontextprotocol/client')
}

interface Exchange {
  readonly id?: unknown
  /** Whether the response is a stream, which may end without an answer. */
  isStream?: boolean
  isAnswered?: boolean
}

/** The exchange that a `fetch` and the messages on its stream belong to, also after the stream was resumed. */
const exchanges = new AsyncLocalStorage<Exchange>()

export function currentRequestId(): number | undefined {
  return exchanges.getStore()?.id as number | undefined
}

/** The SDK's transport, with limits on what a server may send, and errors that say what they mean for the connection. */
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
  readonly hasPerRequestStream: boolean
  readonly #inner: Transport & { terminateSession?(): Promise<void> }
  readonly #url: URL
  readonly #messages: MessageLog
  #answers = 0

  /** `isSse`: the older HTTP+SSE, where all answers come on one stream. */
  constructor(
    { name, messages, host }: McpServer,
    entry: HttpServerEntry,
    isSse: boolean,
    sdk: Awaited<ReturnType<typeof loadSdk>>,
  ) {
    this.#url = new URL(entry.url)
    this.#messages = messages
    this.hasPerRequestStream = !isSse
    const { username, password } = this.#url
    const headers = new Headers(entry.headers)
    // fetch rejects user and password in a URL.
    if ((username || password) && !headers.has('authorization'))
      headers.set('authorization', `Basic ${basicCredentials(username, password)}`)
    this.#url.username = this.#url.password = ''
    const Inner = isSse ? sdk.SSEClientTransport : sdk.StreamableHTTPClientTransport
    const fetch = limitedFetch(entry.maxLineBytes ?? MAX_MESSAGE_BYTES, isSse, host.logins.of(name))
    this.#inner = new Inner(this.#url, { requestInit: { headers: Object.fromEntries(headers) }, fetch })
    this.#inner.onmessage = message => this.#receive(message as JSONRPCMessage)
    this.#inner.onerror = error => this.#onError(error)
    this.#inner.onclose = () => this.#lose(new ServerFailure('the server closed the connection'))
  }

  get address() {
    const { hostname: host, port, protocol } = this.#url
    const address = { host, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
    return { sessionId: this.#inner.sessionId, address }
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  start(): Promise<void> {
    return exchanges.run({}, () => this.#inner.start())
  }

  /** Rejects if the message cannot be sent, or a request's own response or stream ends without an answer. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.failure) throw this.failure.as('unsent')
    const isAnswer = !('method' in message)
    if (isAnswer && this.#answers >= MAX_ANSWERS) return
    const exchange: Exchange = { id: !isAnswer && 'id' in message ? message.id : undefined }
    let onRequestStreamEnd = () => {}
    const ended = new Promise<void>(resolve => {
      onRequestStreamEnd = resolve
    })
    if (isAnswer) this.#answers++
    this.#messages.add('sent', message)
    try {
      await exchanges.run(exchange, () => this.#inner.send(message, { ...options, onRequestStreamEnd }))
    } catch (error) {
      throw options?.requestSignal?.aborted ? error : this.#explain(error)
    } finally {
      if (isAnswer) this.#answers--
    }
    if (!this.hasPerRequestStream || exchange.id === undefined) return
    if (exchange.isStream) await ended
    if (exchange.isAnswered) return
    if (exchange.isStream) throw new ServerFailure('the connection was lost', { kind: 'lost' })
    throw unusable('Malformed MCP result: response id matches no pending request')
  }

  #receive(message: JSONRPCMessage): void {
    const exchange = exchanges.getStore()
    if (exchange && 'id' in message && message.id === exchange.id) exchange.isAnswered = true
    this.#messages.add('received', message)
    this.onmessage?.(message)
  }

  /** An error of a request reaches the request, too; what is left concerns a stream. */
  #onError(error: Error): void {
    const exchange = exchanges.getStore()
    if (exchange?.id !== undefined && !exchange.isStream) return
    const failure = failureOf(error)
    if (failure.kind === 'unusable') this.onerror?.(failure)
    // A new stream of HTTP+SSE would be a new session. Later, after the request it may concern has failed.
    else if (this.isReady && ('event' in error || failure.kind === 'needs_login'))
      setImmediate(() => this.#lose(failure))
  }

  #explain(error: unknown): ServerFailure {
    const failure = failureOf(error)
    const { kind, status = 0 } = failure
    const isExpired = status === 404 || status === 410
    const isUnreachable = error instanceof TypeError || (error as Partial<Error>)?.name === 'AbortError'
    const isGone = isUnreachable || (status >= 502 && status <= 504)
    if (!this.isReady || !(isExpired || isGone || kind === 'needs_login')) return failure
    this.#lose(isExpired ? new ServerFailure('session expired on the server') : failure)
    const { code } = Object((error as Partial<Error>)?.cause) as NodeJS.ErrnoException
    const isUnsent = isExpired || kind === 'needs_login' || NOT_CONNECTED.includes(code ?? '')
    return failure.as(isUnsent ? 'unsent' : 'lost', this.failure?.message)
  }

  /** Nothing more can be sent. What is pending may still be answered until the transport is closed. */
  #lose(failure: ServerFailure): void {
    if (this.failure) return
    this.failure = failure
    this.onlost?.(failure)
  }

  /** Ends the session, if there is one: best effort, it must not hold anything up. */
  async close(): Promise<void> {
    const goodbye = this.failure ? undefined : this.#inner.terminateSession?.().catch(() => {})
    this.failure ??= new ServerFailure('the server was stopped')
    this.onclose?.()
    if (goodbye) await Promise.race([goodbye, pause(GOODBYE_MS, undefined, { ref: false })])
    await this.#inner.close().catch(() => {})
  }
}

/** The `fetch` of a connection: no message exceeds the limits (after decompression), and refusals keep their details. */
function limitedFetch(maxBytes: number, isSse: boolean, login: ServerLogin | undefined) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const exchange = exchanges.getStore()
    // The SDK follows redirects itself, within the server.
    const response = await (login ? login.fetch(String(url), init) : fetch(url, init))
    const { status, headers, body } = response
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
    if (problem) throw unusable(`The server's answer ${problem}`)
    if (type === 'application/json' && text?.trim()) return new Response(text, { headers })
    throw unusable(`The server answered ${status} without a result${type ? ` (${type})` : ''}`)
  }
}

/** A JSON-RPC error is passed on as such; a 405 to a stream means something to the SDK. */
async function refused(response: Response, exchange: Exchange | undefined): Promise<Response> {
  const { status, statusText, headers } = response
  const text = String((await limitedBytes(response, MAX_REFUSAL_BYTES).catch(() => undefined)) ?? '')
  if (status === 405 && exchange?.id === undefined) return new Response(null, { status, headers })
  const answer = status === 400 ? parsedJson(text) : undefined
  if (isRecord(answer) && isRecord(answer.error) && answer.id === exchange?.id)
    return new Response(text, { headers })
  const body = text.trim().slice(0, SHOWN_CHARACTERS)
  const message = `HTTP ${status} ${statusText || STATUS_CODES[status] || ''}`.trim() + (body && `: ${body}`)
  const after = headers.get('retry-after') ?? ''
  const ms = /^\d{1,9}$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now()
  const retryAfterMs = Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_MS)
  throw new ServerFailure(message, { status, retryAfterMs })
}

/** Two line ends, of which there are three kinds. */
const EMPTY_LINE = /(?:\r\n|\n|\r(?!\n)){2}/

/** Passes on a stream of events, which end at an empty line, and breaks it off at one that is too large. */
function limitedEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let event = ''
  let lineEnd = ''
  return new TransformStream({
    transform(chunk, controller) {
      // One character per byte.
      const text = Buffer.from(chunk).toString('latin1')
      const parts = `${lineEnd}${text}`.split(EMPTY_LINE)
      lineEnd = /\r?\n?$/.exec(text)?.[0] ?? ''
      for (const [at, part] of parts.entries()) {
        event = at === 0 ? event + part : part
        const isComplete = at < parts.length - 1
        const problem = event.length > maxBytes ? tooLong(maxBytes) : isComplete && jsonProblem(event)
        if (problem) throw unusable(`The server's answer ${problem}`)
      }
      controller.enqueue(chunk)
    },
  })
}

function unusable(message: string): ServerFailure {
  return new ServerFailure(message, { kind: 'unusable', requestId: currentRequestId() })
}

/** What an error of the SDK is about: a failure of ours, an answer that is not JSON-RPC, or anything else. */
function failureOf(error: unknown): ServerFailure {
  const { name = '', message = '' } = (error ?? {}) as Partial<Error>
  // The SDK wraps the errors of a stream in a text.
  const own = message.indexOf("The server's answer")
  if (own >= 0) return unusable(message.slice(own))
  if (name === 'SyntaxError') return unusable('Malformed MCP message: the server sent invalid JSON')
  if (name.endsWith('ZodError')) return unusable('Malformed MCP message: not JSON-RPC 2.0')
  return failureIn(error) ?? new ServerFailure(describeError(error))
}
