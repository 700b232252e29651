import { setTimeout as pause } from 'node:timers/promises'
import { withoutKnownSecretsIn } from '../logging/redact.ts'
import type { Requester } from '../tools/caller.ts'
import type { ServerRequest } from '../tools/tool.ts'
import { unlessAborted } from '../util/clock.ts'
import { isRecord } from '../util/guards.ts'
import { toolpostVersion } from '../util/package-root.ts'
import { shortText } from '../util/text.ts'
import { currentRequestId, HttpTransport, loadSdk } from './http-transport.ts'
import { isTooDeep } from './json-limit.ts'
import * as limits from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { type Params, Peer, type RequestOptions as PeerRequestOptions, RpcError } from './peer.ts'
import { isHttp } from './server-entry.ts'
import { describeError, failureIn, ServerFailure } from './server-failure.ts'
import { capabilitiesFor, requestMethods } from './server-requests.ts'
import type { ServerInfo } from './server-status.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface RequestOptions extends PeerRequestOptions {
  onRequest?: ((request: ServerRequest) => void) | undefined
  /** Rejects if there is no answer by then. */
  timeoutMs?: number | undefined
}

const MODERN = '2026-07-28'
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']
const META = 'io.modelcontextprotocol'
const MAX_PAGES = 1_000

/** The lists a server can have: the method to request one, where its entries are, and the capability to have one. */
const LISTS = {
  tools: ['tools/list', 'tools', 'tools'],
  resources: ['resources/list', 'resources', 'resources'],
  templates: ['resources/templates/list', 'resourceTemplates', 'resources'],
  prompts: ['prompts/list', 'prompts', 'prompts'],
} as const

export type ListKind = keyof typeof LISTS

const clientInfo = () => ({ name: 'toolpost', version: toolpostVersion() })

/** The peer of one connection to a server: shakes hands, lists what the server has, and follows its changes. */
export class Session extends Peer {
  capabilities: Params = {}
  info: ServerInfo = {}
  protocolVersion = ''
  hasAnswered = false
  /** The tools it listed at the handshake, unvalidated. */
  tools: unknown[] = []
  readonly server: McpServer
  readonly transport: StdioTransport | HttpTransport
  readonly #http: HttpTransport | undefined
  #listening: AbortController | undefined
  #onAcknowledged = (): void => {}

  /** Rejects with a ServerFailure. */
  static async open(
    server: McpServer,
    signal: AbortSignal,
    isSse = server.entry.type === 'sse',
  ): Promise<Session> {
    const { entry } = server
    const transport = isHttp(entry)
      ? new HttpTransport(server, entry, isSse, await loadSdk())
      : new StdioTransport(server, entry)
    const session = new Session(server, transport)
    try {
      await unlessAborted(session.#handshake(), signal)
      return session
    } catch (error) {
      await session.close()
      const ended = transport.failure ?? new ServerFailure('')
      const failure = failureIn(error) ?? ended.as('failed', describeError(error))
      const hasExited = failure.isLoss && !isHttp(entry)
      if (hasExited) throw failure.as('failed', `${failure.message} before it was ready`)
      if (isSse || ![400, 404, 405].includes(failure.status ?? 0)) throw failure
      // It may know only the older HTTP+SSE. If not, the first failure says more.
      return Session.open(server, signal, true).catch(() => {
        throw failure
      })
    }
  }

  private constructor(server: McpServer, transport: StdioTransport | HttpTransport) {
    super(transport, {
      methods: { ...requestMethods(server, () => this.#requester), ping: () => ({}) },
      onNotification: (method, params) => this.#onNotification(method, params),
      onStray: (message, isLate) => server.onStray(message, isLate),
      onError: error => this.#onError(error),
      onClose: () => transport.failure?.as('lost'),
    })
    this.server = server
    this.transport = transport
    this.#http = transport instanceof HttpTransport ? transport : undefined
    transport.onlost = failure => {
      server.onLost(this, failure)
      // Later, so that the request that found out keeps its own error.
      if (failure.kind !== 'needs_login') setImmediate(() => void this.close())
      // Calls that were accepted continue although the server wants a login for others.
      else void this.idle().then(() => this.close())
    }
  }

  get #isModern(): boolean {
    return this.protocolVersion === MODERN
  }

  /** Whether arguments are also sent in headers, as the newest protocol requires over HTTP. */
  get mirrorsArguments(): boolean {
    return this.#isModern && this.#http !== undefined
  }

  tellsChangesOf(kind: 'tools' | 'resources' | 'prompts'): boolean {
    return (this.capabilities[kind] as Params | undefined)?.listChanged === true
  }

  /**
   * The caller that a message of the server is for: that of the stream it came on, or of all pending requests if they have
   * the same one. Nobody else gets the server's questions and logs.
   */
  get #requester(): Requester | undefined {
    const own = this.pending.get(currentRequestId() ?? -1)?.from
    if (own) return own
    const [first, ...others] = [...this.pending.values()].flatMap(({ from }) => from ?? [])
    return others.every(({ peer }) => peer === first?.peer) ? first : undefined
  }

  override request(method: string, params: object = {}, options: RequestOptions = {}): Promise<unknown> {
    const { failure } = this.transport
    if (failure) return Promise.reject(failure.as('unsent'))
    const { onRequest, timeoutMs } = options
    if (timeoutMs !== undefined) return this.#requestWithin(timeoutMs, method, params, options)
    if (!onRequest) return super.request(method, params, options)
    const { protocolVersion } = this
    const onSend = (id: number) => onRequest({ method, id, protocolVersion, ...this.#http?.address })
    return super.request(method, params, { ...options, onSend })
  }

  #requestWithin(timeoutMs: number, method: string, params: object, options: RequestOptions) {
    const limit = AbortSignal.timeout(timeoutMs)
    const signal = AbortSignal.any([limit, options.signal ?? limit])
    return this.request(method, params, { ...options, signal, timeoutMs: undefined }).catch(error => {
      throw limit.aborted ? new ServerFailure(`no answer to ${method} within ${timeoutMs} ms`) : error
    })
  }

  /** A complete list of a server, unvalidated, so that one bad entry does not spoil the rest. */
  async list(kind: ListKind, timeoutMs?: number): Promise<unknown[]> {
    const [method, field, capability] = LISTS[kind]
    const entries: unknown[] = []
    if (!this.capabilities[capability]) return entries
    const cursors = new Set<unknown>([undefined, null])
    let params = {}
    let bytes = 0
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await this.request(method, params, { timeoutMs })
      const { [field]: listed, nextCursor: cursor } = isRecord(result) ? result : {}
      if (!Array.isArray(listed)) throw new Error(`its list of ${kind} is malformed`)
      for (const entry of listed) {
        // One that is nested too deeply to be written is left out later.
        bytes += isTooDeep(entry) ? 0 : JSON.stringify(entry).length
        if (entries.push(entry) <= limits.MAX_LISTED && bytes <= limits.MAX_LIST_BYTES) continue
        const problem = `The server lists more than ${limits.MAX_LISTED} ${kind}; the rest is left out`
        this.server.logger.warn({}, problem)
        return entries.slice(0, -1)
      }
      if (cursors.has(cursor)) return entries
      cursors.add(cursor)
      params = { cursor }
    }
    throw new Error(`its list of ${kind} has more than ${MAX_PAGES} pages`)
  }

  /** Subscribes to a resource that is followed from now on, or unsubscribes from one that no longer is. */
  async follow(uri: string, isFollowed: boolean): Promise<void> {
    const method = isFollowed ? 'resources/subscribe' : 'resources/unsubscribe'
    await (this.#isModern ? this.#listen() : this.request(method, { uri }))
  }

  /**
   * Over stdio the established protocol comes first: nearly every server knows it, and some exit when asked for the newest
   * one. Over HTTP the newest one comes first, since a refusal costs nothing.
   */
  async #handshake(): Promise<void> {
    await this.start()
    try {
      await (this.#http ? this.#discover() : this.#initialize())
    } catch (error) {
      const { status = 0 } = failureIn(error) ?? {}
      const isRefusal = status >= 400 && status < 500 && status !== 401 && status !== 403
      if (!(error instanceof RpcError) && !isRefusal) throw error
      // A server that refuses the version although it names it as supported is worth a second try.
      const { supported } = error instanceof RpcError && isRecord(error.data) ? error.data : {}
      const isNamed = Array.isArray(supported) && supported.includes(MODERN)
      await (!this.#http || isNamed ? this.#discover() : this.#initialize())
    }
    const { followed } = this.server.offers
    if (this.#isModern) await this.#listen()
    else
      for (const uri of followed.keys())
        this.follow(uri, true).catch(error =>
          this.server.problem(`Could not subscribe to a resource: ${describeError(error)}`),
        )
    this.tools = await this.list('tools')
    if (this.#http) this.#http.isReady = true
  }

  async #initialize(): Promise<void> {
    this.envelope = undefined
    const capabilities = capabilitiesFor(this.server.entry)
    const asked = { protocolVersion: LEGACY[0], capabilities, clientInfo: clientInfo() }
    const result = await this.request('initialize', asked)
    const { protocolVersion, ...about } = isRecord(result) ? result : {}
    if (!LEGACY.includes(protocolVersion as string))
      throw new Error(`its protocol version is not supported: ${describeError(String(protocolVersion))}`)
    this.#learn(protocolVersion as string, about, about.serverInfo)
    await this.notify('notifications/initialized')
  }

  async #discover(): Promise<void> {
    this.envelope = {
      [`${META}/protocolVersion`]: MODERN,
      [`${META}/clientInfo`]: clientInfo(),
      // Roots are requested in place of a result and answered by the calling client.
      [`${META}/clientCapabilities`]: { roots: {}, ...capabilitiesFor(this.server.entry) },
      // Without it, the server logs nothing.
      [`${META}/logLevel`]: 'info',
    }
    const result = await this.request('server/discover')
    const { supportedVersions, _meta, ...about } = isRecord(result) ? result : {}
    if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN))
      throw new RpcError(`The server does not know protocol ${MODERN}`)
    this.#learn(MODERN, about, about.serverInfo ?? (isRecord(_meta) && _meta[`${META}/serverInfo`]))
  }

  #learn(version: string, { capabilities, instructions }: Params, info: unknown): void {
    this.protocolVersion = version
    this.#http?.setProtocolVersion(version)
    this.capabilities = isRecord(capabilities) ? capabilities : {}
    const given: Params = { ...(isRecord(info) && info), instructions }
    for (const key of ['name', 'title', 'version', 'instructions'] as const) {
      const text = given[key]
      if (typeof text !== 'string') continue
      const start = text.slice(0, 2 * limits.MAX_INSTRUCTIONS)
      this.info[key] = shortText(withoutKnownSecretsIn(start), limits.MAX_INSTRUCTIONS)
    }
  }

  /**
   * Opens the stream of changes again, with everything that is followed now. Resolves when the server has accepted, or after
   * a moment: not every server does, and some proxies buffer.
   */
  async #listen(): Promise<void> {
    const before = this.#listening
    const listening = new AbortController()
    const { signal } = listening
    this.#listening = listening
    const lists = (['tools', 'resources', 'prompts'] as const).filter(kind => this.tellsChangesOf(kind))
    const { followed } = this.server.offers
    const notifications = {
      ...Object.fromEntries(lists.map(kind => [`${kind}ListChanged`, true])),
      ...(followed.size > 0 && { resourceSubscriptions: [...followed.keys()] }),
    }
    const reopen = async () => {
      if (signal.aborted || this.transport.failure) return
      await this.#listen()
      // What changed until now was not reported.
      for (const kind of lists) this.#onNotification(`notifications/${kind}/list_changed`, {})
    }
    if (Object.keys(notifications).length > 0) {
      const accepted = new Promise<void>(resolve => {
        this.#onAcknowledged = resolve
      })
      const over = this.request('subscriptions/listen', { notifications }, { signal }).catch(error => error)
      void over.then(error => {
        // Refused: do without.
        if (!(error instanceof RpcError)) setTimeout(reopen, limits.RELISTEN_DELAY_MS).unref()
      })
      await Promise.race([accepted, over, pause(limits.LISTEN_GRACE_MS, undefined, { ref: false })])
    }
    before?.abort()
  }

  #onNotification(method: string, params: Params): void {
    if (method === 'notifications/subscriptions/acknowledged') this.#onAcknowledged()
    else this.server.onNotification(method, params, this.#requester)
  }

  /** An unusable answer fails its request, or all if it is unknown whose it is. */
  #onError(error: Error): void {
    if (!(error instanceof ServerFailure) || error.kind !== 'unusable') return
    if (this.fail(error.requestId, error) > 0) this.server.problem(describeError(error))
  }
}
