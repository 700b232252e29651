import { setTimeout as pause } from 'node:timers/promises'
import type { Requester } from '../tools/caller.ts'
import type { ServerRequest } from '../tools/tool.ts'
import { isRecord } from '../util/guards.ts'
import { toolpostVersion } from '../util/package-root.ts'
import { currentRequestId, type HttpStatusError, HttpTransport } from './http-transport.ts'
import * as limits from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { type Params, Peer, type RequestOptions as PeerRequestOptions, RpcError } from './peer.ts'
import { isHttp } from './server-entry.ts'
import * as failures from './server-failure.ts'
import { type ServerFailure, ServerLostError, UnusableAnswerError } from './server-failure.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface RequestOptions extends PeerRequestOptions {
  from?: Requester | undefined
  /** Called with the request once it has an id. */
  onRequest?: ((request: ServerRequest) => void) | undefined
  headers?: Record<string, string> | undefined
}

const MODERN = '2026-07-28'
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']
const META = 'io.modelcontextprotocol'
const UNSUPPORTED_VERSION = -32_022
/** With more pending requests than this, the requester is not determined. */
const MAX_LOOKED_AT = 1_000
const MAX_PAGES = 1_000

/** The lists a server can have: the method to request one, where its entries are, and the capability to have one. */
const LISTS = {
  tools: ['tools/list', 'tools', 'tools'],
  resources: ['resources/list', 'resources', 'resources'],
  templates: ['resources/templates/list', 'resourceTemplates', 'resources'],
  prompts: ['prompts/list', 'prompts', 'prompts'],
} as const

export type ListKind = keyof typeof LISTS

export interface Listed {
  entries: unknown[]
  isCut: boolean
  /** How long, and by whom, the list may be cached. */
  ttlMs?: unknown
  cacheScope?: unknown
}

/** One connection to a server, from its handshake to its end. */
export class Connection {
  capabilities: Params = {}
  instructions: unknown
  info: Params = {}
  protocolVersion = ''
  hasAnswered = false
  /** The tools it listed at the handshake, unvalidated. */
  tools: Listed = { entries: [], isCut: false }
  readonly #server: McpServer
  readonly transport: StdioTransport | HttpTransport
  readonly #http: HttpTransport | undefined
  readonly #peer: Peer
  readonly #followed = new Set<string>()
  #listening: AbortController | undefined
  #relisten: Promise<void> | undefined
  #onAcknowledged = (): void => {}
  #isReady = false
  #isClosing = false
  #isChecking = false

  /** Opens a connection; resolves to what is wrong if that fails. */
  static async open(server: McpServer, signal: AbortSignal): Promise<Connection | ServerFailure> {
    const isSse = server.entry.type === 'sse'
    const first = await Connection.#open(server, signal, isSse)
    if (first instanceof Connection || isSse || ![400, 404, 405].includes(first.status ?? 0)) return first
    // It may know only the older HTTP+SSE. If not, the first failure says more.
    const second = await Connection.#open(server, signal, true)
    return second instanceof Connection ? second : first
  }

  static async #open(server: McpServer, signal: AbortSignal, isSse: boolean) {
    const { entry, login, messages } = server
    const onMessage = messages.add.bind(messages)
    const http = isHttp(entry) ? await HttpTransport.create(entry, { login, isSse, onMessage }) : undefined
    const connection = new Connection(server, http)
    const giveUp = () => void connection.close()
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp)
    try {
      await connection.#start()
      return connection
    } catch (error) {
      await connection.close()
      return connection.#failureOf(error, signal)
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  private constructor(server: McpServer, http: HttpTransport | undefined) {
    const { entry, requests } = server
    this.#server = server
    this.#http = http
    this.transport =
      http ??
      new StdioTransport(entry as Exclude<typeof entry, { url: string }>, {
        junk: line => server.onJunk(line),
        tooLarge: (id, problem) =>
          this.#onUnusable(new UnusableAnswerError(`The server's answer ${problem}`), id),
        message: server.messages.add.bind(server.messages),
      })
    this.transport.onlost = failure => this.#onLost(failure)
    const answer = (params: Params, { method, signal }: { method: string; signal: AbortSignal }) =>
      requests.answer(method, params, { signal, from: this.#requester })
    this.#peer = new Peer(this.transport, {
      methods: { ...Object.fromEntries(requests.methods.map(name => [name, answer])), ping: () => ({}) },
      onNotification: (method, params) => this.#onNotification(method, params),
      onStray: (message, isLate) => server.onStray(message, isLate),
      onError: error => this.#onError(error),
      onClose: () => {
        const isStopped = this.#isClosing && this.#isReady
        const cause = this.transport.failure?.cause ?? 'it is not connected'
        return new ServerLostError(isStopped ? 'the server was stopped' : cause)
      },
    })
  }

  get isModern(): boolean {
    return this.protocolVersion === MODERN
  }

  /** Whether arguments are also sent in headers, as the newest protocol requires over HTTP. */
  get mirrorsArguments(): boolean {
    return this.isModern && this.#http !== undefined
  }

  /** Whether the server says that it reports changes of this list. */
  tellsChangesOf(kind: 'tools' | 'resources' | 'prompts'): boolean {
    const capability = this.capabilities[kind]
    return isRecord(capability) && capability.listChanged === true
  }

  /**
   * The caller that a message of the server is for: that of the stream it came on, or of all pending requests if they have
   * the same one. Nobody else gets the server's questions and logs.
   */
  get #requester(): Requester | undefined {
    const { pending } = this.#peer
    const own = pending.get(currentRequestId() ?? -1)?.from as Requester | undefined
    if (own || pending.size > MAX_LOOKED_AT) return own
    const [first, ...others] = [...pending.values()].flatMap(({ from }) => (from ? [from as Requester] : []))
    return others.every(({ peer }) => peer === first?.peer) ? first : undefined
  }

  request(method: string, params: object, options: RequestOptions = {}): Promise<unknown> {
    const { failure } = this.transport
    if (failure) return Promise.reject(new ServerLostError(failure.cause, { neverSent: true }))
    const { onRequest, headers } = options
    const http = this.#http
    if (!http && !onRequest) return this.#peer.request(method, params, options)
    const send = (id: number) => {
      onRequest?.(this.#describe(method, id))
      return http && { ...(headers && { headers }), onRequestStreamEnd: () => this.#onStreamEnd(id) }
    }
    return this.#peer.request(method, params, { ...options, send })
  }

  #describe(method: string, id: number): ServerRequest {
    const { entry } = this.#server
    const { protocolVersion } = this
    if (!isHttp(entry)) return { method, id, protocolVersion }
    const { hostname: host, port, protocol } = new URL(entry.url)
    const address = { host, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
    return { method, id, protocolVersion, sessionId: this.#http?.sessionId, address }
  }

  idle(): Promise<void> {
    this.#listening?.abort()
    return this.#peer.idle()
  }

  /** A complete list of a server, unvalidated, so that one bad entry does not spoil the rest. */
  async list(kind: ListKind, signal?: AbortSignal): Promise<Listed> {
    const [method, field, capability] = LISTS[kind]
    const entries: unknown[] = []
    if (!this.capabilities[capability]) return { entries, isCut: false }
    const seen = new Set<unknown>([undefined, null])
    let [cursor, bytes]: [unknown, number] = [undefined, 0]
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await this.request(method, typeof cursor === 'string' ? { cursor } : {}, { signal })
      const listed = isRecord(result) ? result[field] : undefined
      if (!isRecord(result) || !Array.isArray(listed)) throw new Error(`its list of ${kind} is malformed`)
      const { nextCursor, ttlMs, cacheScope } = result
      for (const entry of listed) {
        bytes += JSON.stringify(entry).length
        if (entries.length === limits.MAX_LISTED || bytes > limits.MAX_LIST_BYTES)
          return { entries, ttlMs, cacheScope, isCut: true }
        entries.push(entry)
      }
      if (seen.has(nextCursor)) return { entries, ttlMs, cacheScope, isCut: false }
      seen.add(nextCursor)
      cursor = nextCursor
    }
    throw new Error(`its list of ${kind} has more than ${MAX_PAGES} pages`)
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

  /** Closes the connection and ends the process, if any, without reporting a loss. Resolves when all is gone. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#peer.close()
  }

  async #start(): Promise<void> {
    await this.#peer.start()
    await this.#shakeHands()
    if (this.isModern) await this.#listen()
    this.tools = await this.list('tools')
    if (this.#http) this.#http.isReady = true
    this.#isReady = true
  }

  /**
   * Over stdio the established protocol comes first: nearly every server knows it, and some exit when asked for the newest
   * one. Over HTTP the newest one comes first, since a refusal costs nothing.
   */
  async #shakeHands(): Promise<void> {
    try {
      await (this.#http ? this.#discover() : this.#initialize())
    } catch (error) {
      const { status = 0 } = error as Partial<HttpStatusError>
      const isRefusal = status >= 400 && status < 500 && status !== 401 && status !== 403
      if (!(error instanceof RpcError) && !isRefusal) throw error
      if (!this.#http || namesModern(error)) return this.#discover()
      this.#peer.envelope = undefined
      await this.#initialize()
    }
  }

  async #initialize(): Promise<void> {
    const { capabilities } = this.#server.requests
    const asked = { protocolVersion: LEGACY[0], capabilities, clientInfo: clientInfo() }
    const result = await this.request('initialize', asked)
    const { protocolVersion, ...about } = isRecord(result) ? result : {}
    if (typeof protocolVersion !== 'string' || !LEGACY.includes(protocolVersion))
      throw new Error(
        `its protocol version is not supported: ${failures.describeError(String(protocolVersion))}`,
      )
    this.#learn(protocolVersion, about, about.serverInfo)
    await this.#peer.notify('notifications/initialized')
  }

  async #discover(): Promise<void> {
    this.#peer.envelope = {
      [`${META}/protocolVersion`]: MODERN,
      [`${META}/clientInfo`]: clientInfo(),
      // Roots are requested in place of a result and answered by the calling client.
      [`${META}/clientCapabilities`]: { roots: {}, ...this.#server.requests.capabilities },
      // Without it, the server logs nothing.
      [`${META}/logLevel`]: 'info',
    }
    const result = await this.request('server/discover', {})
    const { supportedVersions, _meta, ...about } = isRecord(result) ? result : {}
    if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN))
      throw new RpcError(`The server does not know protocol ${MODERN}`)
    this.#learn(MODERN, about, about.serverInfo ?? (isRecord(_meta) && _meta[`${META}/serverInfo`]))
  }

  #learn(version: string, { capabilities, instructions }: Params, info: unknown): void {
    this.protocolVersion = version
    this.#http?.setProtocolVersion(version)
    this.capabilities = isRecord(capabilities) ? capabilities : {}
    this.instructions = instructions
    this.info = isRecord(info) ? info : {}
  }

  get #reportedLists() {
    return (['tools', 'resources', 'prompts'] as const).filter(kind => this.tellsChangesOf(kind))
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
    const listening = new AbortController()
    this.#listening = listening
    const notifications = {
      ...Object.fromEntries(this.#reportedLists.map(kind => [`${kind}ListChanged`, true])),
      ...(this.#followed.size > 0 && { resourceSubscriptions: [...this.#followed] }),
    }
    if (Object.keys(notifications).length > 0) {
      const accepted = new Promise<void>(resolve => {
        this.#onAcknowledged = resolve
      })
      const { signal } = listening
      const over = this.request('subscriptions/listen', { notifications }, { signal }).then(
        () => this.#onStreamOver(listening),
        // Refused: do without.
        error => error instanceof RpcError || this.#onStreamOver(listening),
      )
      await Promise.race([accepted, over, pause(limits.LISTEN_GRACE_MS, undefined, { ref: false })])
    }
    before?.abort()
  }

  #onStreamOver(stream: AbortController): void {
    if (stream !== this.#listening || stream.signal.aborted || this.#isClosing) return
    // Changes until it is open again are not reported.
    const reopen = () => void this.#listen().then(() => this.#reportChanges())
    setTimeout(reopen, limits.RELISTEN_DELAY_MS).unref()
  }

  #reportChanges(): void {
    for (const kind of this.#reportedLists) this.#onNotification(`notifications/${kind}/list_changed`, {})
  }

  #onNotification(method: string, params: Params): void {
    if (method === 'notifications/subscriptions/acknowledged') return this.#onAcknowledged()
    this.#server.onNotification(method, params, this.#requester)
  }

  /** Fails only the request whose answer is unusable, or all of them if it is unknown which one that was. */
  #onUnusable(error: UnusableAnswerError, id: number | undefined): void {
    if (this.#peer.fail(id, error) > 0) this.#server.problem(error.message)
  }

  #onStreamEnd(id: number): void {
    const lost = new ServerLostError('the connection was lost')
    if (this.#peer.fail(id, lost) > 0) void this.#check(lost)
  }

  /** An error outside a request, usually a broken stream. */
  #onError(error: Error): void {
    if (error instanceof UnusableAnswerError) return this.#onUnusable(error, currentRequestId())
    if (!this.#isReady || this.#isClosing) return
    this.#server.problem(failures.describeError(error))
    void this.#check(error)
  }

  /** Whether an HTTP server still answers. A refusal proves that it does, too. */
  async #check(problem: Error): Promise<void> {
    if (this.#isChecking || !this.#http || !this.#isReady) return
    this.#isChecking = true
    const signal = AbortSignal.timeout(limits.HEALTH_CHECK_MS)
    const isAlive = await this.request(this.isModern ? 'server/discover' : 'ping', {}, { signal }).then(
      () => true,
      error => error instanceof RpcError || failures.neededLogin(error) !== undefined,
    )
    this.#isChecking = false
    if (!isAlive) this.#http.lose(failures.describeError(problem))
  }

  /** Calls that a server over HTTP has accepted continue although it wants a login for others. */
  #onLost(failure: ServerFailure): void {
    if (this.#isReady && !this.#isClosing) this.#server.onLost(this, failure)
    // Later, so that the request that found out keeps its own error.
    if (!failure.needsLogin) setImmediate(() => void this.#peer.close())
    else if (!this.#isClosing) void this.idle().then(() => this.#peer.close())
  }

  /** Why the handshake failed: it was aborted, the process ended, or `error`. */
  #failureOf(error: unknown, signal: AbortSignal): ServerFailure {
    const failure = (!this.#http && this.transport.failure) || failures.failureWith('')
    if (signal.aborted) return { ...failure, cause: failures.describeError(signal.reason) }
    const login = failures.neededLogin(error)
    if (login) return { ...failure, cause: login.message, needsLogin: true }
    const { retryAfterMs, status } = error as Partial<HttpStatusError>
    const isDeath = error instanceof ServerLostError && !this.#http
    const cause = isDeath ? `${error.message} before it was ready` : failures.describeError(error)
    const isPermanent = error instanceof failures.NeverStartedError
    return { ...failure, cause, retryAfterMs, status, isPermanent }
  }
}

/** Whether a server refused the version although it names it as supported: it is worth a second try. */
function namesModern(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.rpcCode !== UNSUPPORTED_VERSION) return false
  const { supported } = isRecord(error.data) ? error.data : {}
  return Array.isArray(supported) && supported.includes(MODERN)
}

function clientInfo(): { name: string; version: string } {
  return { name: 'toolpost', version: toolpostVersion() }
}
