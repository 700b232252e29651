import type { Client, Transport } from '@modelcontextprotocol/client'
import type { ServerRequest } from '../tools/tool.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { refusalOf } from './call-result.ts'
import { addressOf, callTool } from './http-call.ts'
import { type CurrentCall, currentCall, type HttpKind, retryAfterMs } from './http-fetch.ts'
import type { HttpMessages, SentRequest } from './http-messages.ts'
import {
  answerAfterNotifications,
  describeHttpError,
  isExpiredSession,
  isGone,
  isRefusedConnection,
  sayGoodbye,
} from './http-transport.ts'
import { NO_TIMEOUT_MS } from './limits.ts'
import { Listening } from './listening.ts'
import {
  ANY_RESULT,
  aboutServer,
  type ClientEvents,
  createClient,
  isAlive,
  listAll,
  loadSdk,
  modernMeta,
} from './sdk-client.ts'
import {
  describeError,
  failureWith,
  type NeedsLoginError,
  neededLogin,
  type ServerFailure,
  ServerLostError,
  UnusableAnswerError,
} from './server-failure.ts'
import {
  type LinkCall,
  type LinkContext,
  type LinkRequestOptions,
  type PendingCall,
  type Requester,
  type ServerAbout,
  type ServerLink,
  soleRequester,
} from './server-link.ts'

interface HttpLinkOptions {
  url: string
  messages: HttpMessages
  context: LinkContext
}

export class HttpLink implements ServerLink {
  readonly pid = undefined
  hasAnswered = false
  tools: readonly unknown[] = []
  about: ServerAbout = { capabilities: {}, instructions: undefined, info: undefined }
  readonly #underWay = new Set<CurrentCall>()
  #onIdle: (() => void) | undefined
  readonly #context: LinkContext
  readonly #transport: Transport
  readonly #messages: HttpMessages
  readonly #address: NonNullable<ServerRequest['address']>
  #client: Client | undefined
  #listening: Listening | undefined
  /** Sent with every request in addition to what the SDK adds. */
  #meta: Record<string, unknown> | undefined
  #isReady = false
  /** Why the connection ended, once it has. */
  #cause: string | undefined
  #isChecking = false

  constructor(transport: Transport, { url, messages, context }: HttpLinkOptions) {
    this.#transport = transport
    this.#address = addressOf(new URL(url))
    this.#messages = messages
    this.#context = context
  }

  async connect(kind: HttpKind): Promise<void> {
    const { events, requests } = this.#context
    const clientEvents: ClientEvents = {
      notice: (method, params) => events.notice(method, params, this.#requester),
      error: error => this.#onError(error),
      requester: () => this.#requester,
    }
    const client = await createClient(kind === 'sse' ? 'legacy' : 'auto', requests, clientEvents)
    this.#client = client
    await client.connect(this.#transport, { timeout: NO_TIMEOUT_MS })
    answerAfterNotifications(this.#transport)
    this.about = aboutServer(client)
    if (client.getProtocolEra() === 'modern') this.#meta = await modernMeta(client, requests.capabilities)
    this.#listening = new Listening(client, clientEvents)
    await this.#listening.start()
    this.tools = (await listAll(this, 'tools')).entries
    client.onclose = () => this.#lose('the server closed the connection')
    this.#isReady = true
  }

  get protocolVersion(): string | undefined {
    return this.#client?.getNegotiatedProtocolVersion()
  }

  get mirrorsArguments(): boolean {
    return this.#client?.getProtocolEra() === 'modern'
  }

  stderr = (): string => ''

  /** The requester of the stream a message came on, or else the only one of all pending requests. */
  get #requester(): Requester | undefined {
    return currentCall.getStore()?.from ?? soleRequester([...this.#underWay].map(({ from }) => from))
  }

  request(method: string, params: object, { from, signal }: LinkRequestOptions = {}): Promise<unknown> {
    const options = { timeout: NO_TIMEOUT_MS, ...(signal && { signal }) }
    const message = { method, params: this.#meta ? { ...params, _meta: this.#meta } : params }
    return this.#send({ from }, client => client.request(message as never, ANY_RESULT, options), signal)
  }

  async follow(uri: string): Promise<() => void> {
    if (!this.#listening) throw new Error('Not connected')
    return this.#listening.follow(uri, this)
  }

  call(call: LinkCall): PendingCall {
    const controller = new AbortController()
    const result = new Promise<unknown>((resolve, reject) => {
      const settle = (action: () => void) => !controller.signal.aborted && action()
      const { from, onRequest } = call
      const onSent = onRequest && ((sent: SentRequest) => onRequest(this.#describe(sent)))
      const { signal } = controller
      const sent = this.#meta ? { ...call, meta: { ...call.meta, ...this.#meta } } : call
      this.#send({ from, onSent }, client => callTool(client, sent, signal), signal).then(
        value => {
          this.hasAnswered = true
          settle(() => resolve(value))
        },
        error => settle(() => reject(error)),
      )
    })
    return { result, cancel: reason => controller.abort(new Error(reason)) }
  }

  /** Resolves as soon as no request is pending. */
  idle(): Promise<void> {
    if (this.#underWay.size === 0) return Promise.resolve()
    return new Promise(resolve => {
      this.#onIdle = resolve
    })
  }

  async #send(
    current: CurrentCall,
    send: (client: Client) => Promise<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const client = this.#client
    if (this.#cause !== undefined || !client)
      throw new ServerLostError(this.#cause ?? 'not connected', { neverSent: true })
    this.#underWay.add(current)
    try {
      return this.#messages.redeem(await currentCall.run(current, send, client))
    } catch (error) {
      // While connecting, the caller needs the original error.
      throw signal?.aborted || !this.#isReady ? error : await this.#callError(error)
    } finally {
      this.#underWay.delete(current)
      if (this.#underWay.size === 0) this.#onIdle?.()
      if (this.#cause !== undefined && this.#underWay.size === 0) void this.#closeTransport()
    }
  }

  #describe({ id, method }: SentRequest): ServerRequest {
    const { sessionId } = this.#transport
    return { id, method, sessionId, protocolVersion: this.protocolVersion, address: this.#address }
  }

  /** What a failed request means for its call, and for the connection. */
  async #callError(error: unknown): Promise<Error> {
    if (error instanceof ServerLostError) {
      void this.#check(error)
      return error
    }
    if (error instanceof UnusableAnswerError) return error
    const login = neededLogin(error)
    if (login) return this.#loginNeeded(login)
    const { ProtocolError } = await loadSdk()
    if (error instanceof ProtocolError) return refusalOf(error)
    const afterMs = retryAfterMs(error)
    const isExpired = isExpiredSession(error, this.#transport)
    if (!isExpired && !isGone(error))
      return new ToolFailureError('tool_error', describeHttpError(error), { retryAfterMs: afterMs })
    this.#lose(isExpired ? 'session expired on the server' : describeHttpError(error), {
      retryAfterMs: afterMs,
    })
    return new ServerLostError(this.#cause ?? '', { neverSent: isExpired || isRefusedConnection(error) })
  }

  /** If only a scope is missing, other calls still work; calls the server has accepted continue either way. */
  #loginNeeded(error: NeedsLoginError): Error {
    if (error.lacksScope) return error
    this.#lose(error.message, { needsLogin: true })
    return new ServerLostError(error.message, { neverSent: true })
  }

  /** An error outside a request, usually a broken stream: checks whether the server is still up. */
  #onError(error: Error): void {
    if (!this.#isReady || this.#cause !== undefined) return
    const login = neededLogin(error)
    // After the call it may concern has failed.
    if (login) return void setImmediate(() => this.#loginNeeded(login))
    this.#context.events.problem(describeHttpError(error))
    // A broken SSE stream: a new one would be a new session, which knows nothing of this one.
    if ('event' in error) this.#lose(describeHttpError(error))
    else void this.#check(error)
  }

  async #check(error: Error): Promise<void> {
    if (this.#isChecking || !this.#client) return
    this.#isChecking = true
    try {
      if (!(await isAlive(this.#client))) this.#lose(describeError(error))
    } finally {
      this.#isChecking = false
    }
  }

  #lose(cause: string, more: Partial<ServerFailure> = {}): void {
    if (this.#cause !== undefined) return
    this.#cause = cause
    if (this.#isReady) this.#context.events.lost({ ...failureWith(cause), ...more })
    if (!more.needsLogin || this.#underWay.size === 0) void this.#closeTransport()
  }

  async close(): Promise<void> {
    this.#isReady = false
    this.#cause ??= 'the connection was closed'
    if (this.#client) await sayGoodbye(this.#transport)
    await this.#closeTransport()
  }

  /** While it negotiates the version, the client does not own the transport yet. */
  #closeTransport = () => (this.#client?.transport ? this.#client : this.#transport).close().catch(() => {})
}
