import { setTimeout as pause } from 'node:timers/promises'
import { isRecord } from '../runtime/guards.ts'
import { toolpostVersion } from '../runtime/version.ts'
import type { Requester } from '../tools/caller.ts'
import type { ServerRequest } from '../tools/tool.ts'
import { paramHeaders } from './header-parameters.ts'
import { currentRequestId, type HttpKind, type HttpStatusError, HttpTransport } from './http-transport.ts'
import {
  HEALTH_CHECK_MS,
  LISTEN_GRACE_MS,
  MAX_LIST_CHARACTERS,
  MAX_LIST_PAGES,
  MAX_TOOLS,
  RELISTEN_BASE_DELAY_MS,
  RELISTEN_MAX_DELAY_MS,
} from './limits.ts'
import type { MessageLog } from './message-log.ts'
import type { ServerLogin } from './oauth/server-login.ts'
import { Peer, RpcError, type SentRequest } from './peer.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'
import {
  describeError,
  failureWith,
  NeverStartedError,
  neededLogin,
  type ServerFailure,
  ServerLostError,
  UnusableAnswerError,
} from './server-failure.ts'
import type { ServerRequests } from './server-requests.ts'
import { StdioTransport } from './stdio-transport.ts'
import { charactersOf, type McpToolDefinition } from './tool-definition.ts'

/** What a server says about itself. */
export interface ServerAbout {
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
  /** Its name, version, title, icons … */
  readonly info: Readonly<Record<string, unknown>> | undefined
}

type Params = Readonly<Record<string, unknown>>

/** What a connection reports. */
interface ConnectionEvents {
  /** An open connection is gone. Called once, before the pending calls fail. */
  lost(failure: ServerFailure): void
  /** `from` is the caller it concerns, if that can be determined. */
  notification(method: string, params: Params, from?: Requester): void
  stderr(): void
  junk(line: string): void
  /** A response without a pending request. */
  stray(message: Params, isLate: boolean): void
  /** A problem outside any call. */
  problem(message: string): void
}

export interface ConnectionOptions {
  entry: ServerEntry
  events: ConnectionEvents
  /** Answers the server's own requests. */
  requests: ServerRequests
  secrets: readonly string[]
  /** For a server over HTTP without credentials in its configuration. */
  login: ServerLogin | undefined
  messages: MessageLog
  /** What earlier attempts learned about this server. */
  memory: { isModern?: boolean; isSse?: boolean }
}

export interface RequestOptions {
  from?: Requester | undefined
  signal?: AbortSignal | undefined
  /** The server's key for its question, if this is about one. */
  key?: string | undefined
}

export interface CallOptions {
  /** Answers to what the server asked in place of a result. */
  answers?: object | undefined
  from?: Requester | undefined
  onProgress?: ((params: Params) => void) | undefined
  meta?: Params | undefined
  /** Called with the request once it has an id. */
  onRequest?: ((request: ServerRequest) => void) | undefined
}

const MODERN = '2026-07-28'
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']
const META = 'io.modelcontextprotocol'
const LISTS_TOLD = ['tools', 'resources', 'prompts'] as const
/** With more pending requests than this, the requester is not determined. */
const MAX_LOOKED_AT = 1_000

/** The lists a server can have: the method to request one, and where its entries are. */
const LISTS = {
  tools: { method: 'tools/list', field: 'tools', capability: 'tools' },
  resources: { method: 'resources/list', field: 'resources', capability: 'resources' },
  templates: { method: 'resources/templates/list', field: 'resourceTemplates', capability: 'resources' },
  prompts: { method: 'prompts/list', field: 'prompts', capability: 'prompts' },
} as const

export type ListKind = keyof typeof LISTS

/** How long, and by whom, a list may be cached. */
export interface CacheHint {
  ttlMs?: unknown
  cacheScope?: unknown
}

export interface Listed extends CacheHint {
  entries: unknown[]
  /** More were left out. */
  isCut?: boolean
}

/** One connection to a server, from its handshake to its end. */
export class Connection {
  about: ServerAbout = { capabilities: {}, instructions: undefined, info: undefined }
  protocolVersion: string | undefined
  /** Whether it has answered a call. */
  hasAnswered = false
  /** The tools it listed at the handshake, unvalidated. */
  tools: readonly unknown[] = []
  readonly #options: ConnectionOptions
  readonly #transport: StdioTransport | HttpTransport
  readonly #peer: Peer
  /** The callers of the pending requests. */
  readonly #callers = new Map<number, Requester | undefined>()
  readonly #followed = new Set<string>()
  #listening: SentRequest | undefined
  #relisten: Promise<void> | undefined
  #relistenMs = RELISTEN_BASE_DELAY_MS
  #onAcknowledged = (): void => {}
  #onIdle: (() => void)[] = []
  #isReady = false
  #isClosing = false
  #isChecking = false

  /** Opens a connection; rejects with a ConnectError. */
  static async open(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
    const { entry, memory } = options
    if (!isHttp(entry)) return Connection.#connect(options, undefined, signal)
    const kind: HttpKind = entry.type === 'sse' || memory.isSse ? 'sse' : 'streamable'
    try {
      return await Connection.#connect(options, kind, signal)
    } catch (error) {
      const { status = 0 } = (error as ConnectError).cause as Partial<HttpStatusError>
      if (kind === 'sse' || ![400, 404, 405].includes(status)) throw error
      // The first error says more: it is no surprise that this is not an SSE server either.
      const connection = await Connection.#connect(options, 'sse', signal).catch(() => undefined)
      if (!connection) throw error
      memory.isSse = true
      return connection
    }
  }

  static async #connect(
    options: ConnectionOptions,
    kind: HttpKind | undefined,
    signal: AbortSignal,
  ): Promise<Connection> {
    const { entry, login, messages } = options
    const onMessage = messages.add.bind(messages)
    const http =
      kind && isHttp(entry) ? await HttpTransport.create(entry, kind, { login, onMessage }) : undefined
    const connection = new Connection(options, http)
    const giveUp = () => void connection.close()
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp)
    try {
      await connection.#start()
      return connection
    } catch (error) {
      await connection.close()
      throw new ConnectError(connection.#failureOf(error, signal), { cause: error })
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  private constructor(options: ConnectionOptions, http: HttpTransport | undefined) {
    const { entry, events, requests, secrets, messages } = options
    this.#options = options
    this.#transport =
      http ??
      new StdioTransport(
        entry as never,
        {
          stderr: () => events.stderr(),
          junk: line => events.junk(line),
          tooLarge: (id, problem) =>
            this.#onUnusable(new UnusableAnswerError(`The server's answer ${problem}`), id),
          message: messages.add.bind(messages),
        },
        secrets,
      )
    const methods = requests.methods.map(method => [
      method,
      (params: Params, { signal }: { signal: AbortSignal }) =>
        requests.answer(method, params, { signal, from: this.requester }),
    ])
    if (http) http.onlost = failure => this.#onLost(failure)
    this.#peer = new Peer(this.#transport, {
      methods: { ...Object.fromEntries(methods), ping: () => ({}) },
      onNotification: (method, params) => this.#onNotification(method, params),
      onStray: (message, isLate) => events.stray(message, isLate),
      onError: error => this.#onError(error),
      onClose: () => this.#onClose(),
    })
  }

  get pid(): number | undefined {
    return this.#transport instanceof StdioTransport ? this.#transport.pid : undefined
  }

  /** The tail of the server's stderr. */
  stderr(): string {
    return this.#transport instanceof StdioTransport ? this.#transport.stderr.text() : ''
  }

  get isModern(): boolean {
    return this.protocolVersion === MODERN
  }

  /** Whether arguments are also sent in headers, as the newest protocol requires over HTTP. */
  get mirrorsArguments(): boolean {
    return this.isModern && this.#transport instanceof HttpTransport
  }

  /**
   * The caller that a message of the server is for: that of the stream it came on, or of all pending requests if they have
   * the same one. Nobody else gets the server's questions and logs.
   */
  get requester(): Requester | undefined {
    const id = currentRequestId()
    const own = typeof id === 'number' ? this.#callers.get(id) : undefined
    return own ?? (this.#callers.size > MAX_LOOKED_AT ? undefined : soleRequester(this.#callers.values()))
  }

  /** Calls a tool. */
  call({ name, inputSchema }: McpToolDefinition, args: object, options: CallOptions): SentRequest {
    const { answers, from, onProgress, meta, onRequest } = options
    const params = answers ? { name, arguments: args, ...answers } : { name, arguments: args }
    const headers = this.mirrorsArguments ? paramHeaders(inputSchema, args) : undefined
    const sent = this.#send('tools/call', params, { from, onProgress, meta, headers })
    onRequest?.(this.#describe(sent.id))
    return sent
  }

  /** Sends any other request; resolves to the raw result. */
  async request(method: string, params: object, { from, signal }: RequestOptions = {}): Promise<unknown> {
    signal?.throwIfAborted()
    const { result, cancel } = this.#send(method, params, { from, isAside: true })
    if (!signal) return result
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        cancel('The caller gave up')
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp)
      result.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
    })
  }

  #send(
    method: string,
    params: object,
    {
      from,
      onProgress,
      meta,
      headers,
      isAside,
    }: Pick<CallOptions, 'from' | 'onProgress' | 'meta'> & {
      headers?: Record<string, string> | undefined
      isAside?: boolean
    },
  ): SentRequest {
    const gone = this.#gone
    if (gone)
      return { id: -1, result: Promise.reject(new ServerLostError(gone, { neverSent: true })), cancel() {} }
    const send = this.#transport instanceof HttpTransport && {
      ...(headers && { headers }),
      onRequestStreamEnd: () => this.#onStreamEnd(sent.id),
    }
    const sent = this.#peer.send(method, params, { onProgress, meta, send: send || undefined })
    const { id } = sent
    this.#callers.set(id, from)
    const done = () => {
      this.#callers.delete(id)
      if (this.#callers.size === 0) for (const tell of this.#onIdle.splice(0)) tell()
    }
    const result = sent.result.then(
      value => {
        if (!isAside) this.hasAnswered = true
        done()
        return value
      },
      error => {
        done()
        throw error
      },
    )
    return {
      id,
      result,
      cancel: reason => {
        done()
        sent.cancel(reason)
      },
    }
  }

  #describe(id: number): ServerRequest {
    const { entry } = this.#options
    const { protocolVersion } = this
    if (!isHttp(entry)) return { method: 'tools/call', id, protocolVersion }
    const { hostname, port, protocol } = new URL(entry.url)
    const address = { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
    const { sessionId } = this.#transport as HttpTransport
    return { method: 'tools/call', id, protocolVersion, sessionId, address }
  }

  /** Resolves as soon as no request is pending. */
  idle(): Promise<void> {
    if (this.#callers.size === 0) return Promise.resolve()
    return new Promise(resolve => this.#onIdle.push(resolve))
  }

  /**
   * A complete list of a server, unvalidated, so that one bad entry does not spoil the rest. A list that is too long is cut
   * after the first entry over the limit.
   */
  async list(kind: ListKind, signal?: AbortSignal): Promise<Listed> {
    const { method, field, capability } = LISTS[kind]
    const entries: unknown[] = []
    if (!this.about.capabilities[capability]) return { entries }
    const seen = new Set<unknown>([undefined])
    let cursor: unknown
    let characters = 0
    for (let page = 0; page < MAX_LIST_PAGES; page++) {
      const result = await this.request(method, typeof cursor === 'string' ? { cursor } : {}, { signal })
      const listed = isRecord(result) ? result[field] : undefined
      if (!isRecord(result) || !Array.isArray(listed)) throw new Error(`its list of ${kind} is malformed`)
      for (const entry of listed) {
        characters += charactersOf(entry)
        if (characters > MAX_LIST_CHARACTERS || entries.push(entry) > MAX_TOOLS) break
      }
      cursor = result.nextCursor
      const isCut = entries.length > MAX_TOOLS || characters > MAX_LIST_CHARACTERS
      if (seen.has(cursor) || cursor === null || isCut)
        return { entries, ttlMs: result.ttlMs, cacheScope: result.cacheScope, isCut }
      seen.add(cursor)
    }
    throw new Error(`its list of ${kind} has more than ${MAX_LIST_PAGES} pages`)
  }

  /** Subscribes to changes of a resource. Resolves to a function that unsubscribes. */
  async follow(uri: string): Promise<() => void> {
    if (!this.isModern) {
      await this.request('resources/subscribe', { uri })
      return () => void this.request('resources/unsubscribe', { uri }).catch(() => {})
    }
    this.#followed.add(uri)
    await this.#listen()
    return () => {
      if (this.#followed.delete(uri)) void this.#listen()
    }
  }

  /** Closes the connection and ends the process, if any, without calling `lost`. Resolves when all is gone. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#transport.close()
  }

  async #start(): Promise<void> {
    await this.#peer.start()
    await this.#shakeHands()
    if (this.isModern && this.#filter()) await this.#listen()
    this.tools = (await this.list('tools')).entries
    if (this.#transport instanceof HttpTransport) this.#transport.isReady = true
    this.#isReady = true
  }

  /**
   * Over stdio the established protocol comes first: nearly every server knows it, and some exit when asked for the newest
   * one. Over HTTP the newest one comes first, since a refusal costs nothing.
   */
  async #shakeHands(): Promise<void> {
    const { memory } = this.#options
    const isStreamable = this.#transport instanceof HttpTransport && this.#transport.kind === 'streamable'
    try {
      if (isStreamable || memory.isModern) await this.#discover()
      else await this.#initialize()
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (namesModern(error)) return this.#discover()
      this.#peer.envelope = undefined
      if (isStreamable || memory.isModern) return this.#initialize()
      if (this.#transport instanceof HttpTransport) throw error
      memory.isModern = true
      await this.#discover()
    }
  }

  async #initialize(): Promise<void> {
    const capabilities = this.#options.requests.capabilities
    const asked = { protocolVersion: LEGACY[0], capabilities, clientInfo: clientInfo() }
    const result = await this.request('initialize', asked)
    const { protocolVersion, ...about } = isRecord(result) ? result : {}
    if (typeof protocolVersion !== 'string' || !LEGACY.includes(protocolVersion))
      throw new Error(`its protocol version is not supported: ${describeError(String(protocolVersion))}`)
    this.#learn(protocolVersion, about, about.serverInfo)
    await this.#peer.notify('notifications/initialized')
  }

  async #discover(): Promise<void> {
    this.#peer.envelope = {
      [`${META}/protocolVersion`]: MODERN,
      [`${META}/clientInfo`]: clientInfo(),
      // Roots are requested in place of a result and answered by the calling client.
      [`${META}/clientCapabilities`]: { roots: {}, ...this.#options.requests.capabilities },
      // Without it, the server logs nothing.
      [`${META}/logLevel`]: 'info',
    }
    const result = await this.request('server/discover', {})
    const { supportedVersions, _meta, ...about } = isRecord(result) ? result : {}
    if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN))
      throw new RpcError(`The server does not know protocol ${MODERN}`)
    const info = about.serverInfo ?? (isRecord(_meta) ? _meta[`${META}/serverInfo`] : undefined)
    this.#learn(MODERN, about, info)
  }

  #learn(version: string, { capabilities, instructions }: Params, info: unknown): void {
    this.protocolVersion = version
    if (this.#transport instanceof HttpTransport) this.#transport.setProtocolVersion(version)
    this.about = {
      capabilities: isRecord(capabilities) ? capabilities : {},
      instructions: typeof instructions === 'string' ? instructions : undefined,
      info: isRecord(info) ? info : undefined,
    }
  }

  /** Why nothing more can be sent, if so. */
  get #gone(): string | undefined {
    return this.#transport instanceof HttpTransport ? this.#transport.failure?.cause : this.#transport.cause
  }

  /** The lists whose changes the server says it reports. */
  get #listsTold(): (typeof LISTS_TOLD)[number][] {
    return LISTS_TOLD.filter(kind => {
      const capability = this.about.capabilities[kind]
      return isRecord(capability) && capability.listChanged === true
    })
  }

  /** What to be notified of, in the newest protocol, which notifies only subscribers. */
  #filter(): object | undefined {
    const lists = this.#listsTold
    if (lists.length === 0 && this.#followed.size === 0) return undefined
    return {
      ...Object.fromEntries(lists.map(kind => [`${kind}ListChanged`, true])),
      ...(this.#followed.size > 0 && { resourceSubscriptions: [...this.#followed] }),
    }
  }

  /** Opens the stream of changes again, with everything that is followed now; batches what is asked for in one turn. */
  #listen(): Promise<void> {
    this.#relisten ??= Promise.resolve().then(() => {
      this.#relisten = undefined
      return this.#openStream()
    })
    return this.#relisten
  }

  /** Resolves when the server has accepted, or after a moment: not every server does, and some proxies buffer. */
  async #openStream(): Promise<void> {
    const before = this.#listening
    this.#listening = undefined
    const notifications = this.#filter()
    if (notifications) {
      let isLate = false
      const accepted = new Promise<void>(resolve => {
        this.#onAcknowledged = () => {
          this.#relistenMs = RELISTEN_BASE_DELAY_MS
          // Changes until now were not reported.
          if (isLate) this.#tellOfAll()
          resolve()
        }
      })
      const send = {
        onRequestStreamEnd: () => this.#peer.fail(sent.id, new ServerLostError('the stream ended')),
      }
      const sent = this.#peer.send('subscriptions/listen', { notifications }, { send })
      this.#listening = sent
      const refused = sent.result.then(
        () => this.#onStreamOver(sent, 'the change stream was closed by the server'),
        // Refused: do without.
        error => error instanceof RpcError || this.#onStreamOver(sent),
      )
      await Promise.race([accepted, refused, pause(LISTEN_GRACE_MS, undefined, { ref: false })])
      isLate = true
    }
    before?.cancel()
  }

  #onStreamOver(sent: SentRequest, problem?: string): void {
    if (sent !== this.#listening || this.#isClosing || this.#gone) return
    if (problem) this.#options.events.problem(problem)
    const delayMs = this.#relistenMs
    this.#relistenMs = Math.min(2 * delayMs, RELISTEN_MAX_DELAY_MS)
    setTimeout(() => void this.#listen().then(() => this.#tellOfAll()), delayMs).unref()
  }

  #tellOfAll(): void {
    for (const kind of this.#listsTold) this.#onNotification(`notifications/${kind}/list_changed`, {})
  }

  #onNotification(method: string, params: Params): void {
    if (method === 'notifications/subscriptions/acknowledged') return this.#onAcknowledged()
    this.#options.events.notification(method, params, this.requester)
  }

  /** Fails only the request whose answer is unusable, or all of them if it is unknown which one that was. */
  #onUnusable(error: UnusableAnswerError, id: number | undefined): void {
    if (this.#peer.fail(id, error) > 0) this.#options.events.problem(error.message)
  }

  #onStreamEnd(id: number): void {
    const lost = new ServerLostError('the connection was lost')
    if (this.#peer.fail(id, lost) > 0) void this.#check(lost)
  }

  /** An error outside a request, usually a broken stream. */
  #onError(error: Error): void {
    const id = currentRequestId()
    if (error instanceof UnusableAnswerError)
      return this.#onUnusable(error, typeof id === 'number' ? id : undefined)
    if (!this.#isReady || this.#isClosing) return
    this.#options.events.problem(describeError(error))
    void this.#check(error)
  }

  /** Whether an HTTP server still answers. */
  async #check(problem: Error): Promise<void> {
    const transport = this.#transport
    if (this.#isChecking || !(transport instanceof HttpTransport) || !this.#isReady) return
    this.#isChecking = true
    const signal = AbortSignal.timeout(HEALTH_CHECK_MS)
    const isAlive = await this.request(this.isModern ? 'server/discover' : 'ping', {}, { signal }).then(
      () => true,
      // A refusal proves that it is alive, too.
      error => error instanceof RpcError || neededLogin(error) !== undefined,
    )
    this.#isChecking = false
    if (!isAlive) transport.lose(describeError(problem))
  }

  /** Calls that a server over HTTP has accepted continue although it wants a login for others. */
  #onLost(failure: ServerFailure): void {
    if (this.#isReady && !this.#isClosing) this.#options.events.lost(failure)
    // Later, so that the request that found out keeps its own error.
    if (!failure.needsLogin) setImmediate(() => void this.#transport.close())
    else if (!this.#isClosing) void this.idle().then(() => this.#transport.close())
  }

  #onClose(): Error {
    const { cause } = this.#transport.failure ?? failureWith('it is not connected')
    if (this.#transport instanceof StdioTransport) this.#onLost(this.#transport.failure)
    return new ServerLostError(this.#isClosing && this.#isReady ? 'the server was stopped' : cause)
  }

  /** Why the handshake failed: it was aborted, the process ended, or `error`. */
  #failureOf(error: unknown, signal: AbortSignal): ServerFailure {
    const failure = this.#transport.failure ?? failureWith('')
    if (signal.aborted) return { ...failure, cause: describeError(signal.reason) }
    const login = neededLogin(error)
    if (login) return { ...failure, cause: login.message, needsLogin: true }
    const { retryAfterMs } = error as Partial<HttpStatusError>
    const isDeath = error instanceof ServerLostError && this.#transport instanceof StdioTransport
    const cause = isDeath ? `${error.message} before it was ready` : describeError(error)
    return { ...failure, cause, retryAfterMs, isPermanent: error instanceof NeverStartedError }
  }
}

/** A connection could not be established. */
export class ConnectError extends Error {
  override name = 'ConnectError'
  readonly failure: ServerFailure

  constructor(failure: ServerFailure, options?: { cause?: unknown }) {
    super(failure.cause, options)
    this.failure = failure
  }
}

/** Whether a server refused a handshake, so that the other one is worth a try. */
function isRefusal(error: unknown): boolean {
  if (error instanceof RpcError) return true
  const { status = 0 } = error as Partial<HttpStatusError>
  return status >= 400 && status < 500 && status !== 401 && status !== 403
}

const UNSUPPORTED_VERSION = -32_022

/** Whether a server refused the version although it names it as supported: it is worth a second try. */
function namesModern(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.rpcCode !== UNSUPPORTED_VERSION) return false
  const { supported } = isRecord(error.data) ? error.data : {}
  return Array.isArray(supported) && supported.includes(MODERN)
}

/** How Toolpost introduces itself to servers. */
function clientInfo(): { name: string; version: string } {
  return { name: 'toolpost', version: toolpostVersion() }
}

/** The only caller of several requests. Which one a question belongs to is unknown, so all of them are held. */
function soleRequester(all: Iterable<Requester | undefined>): Requester | undefined {
  const [first, ...others] = [...all].filter(each => each !== undefined)
  if (others.length === 0 || !first) return first
  if (others.some(({ peer }) => peer !== first.peer)) return undefined
  const { ask, sample } = first
  return {
    peer: first.peer,
    onLog: first.onLog,
    ...(ask && { ask: question => holdAll(others, () => ask(question)) }),
    ...(sample && { sample: (params, options) => holdAll(others, () => sample(params, options)) }),
  }
}

function holdAll<T>(requesters: readonly Requester[], wait: () => Promise<T>): Promise<T> {
  const held = (inner: () => Promise<T>, each: Requester) =>
    each.hold ? () => each.hold?.(inner) ?? inner() : inner
  return requesters.reduce(held, wait)()
}
