import { setTimeout as pause } from 'node:timers/promises'
import {
  isSpecType,
  SUBSCRIPTION_ID_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import { safeText } from '../../logging/safe-value.ts'
import { Catalog, type CatalogList } from '../../mcp/catalog.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Method, RpcError } from '../../mcp/peer.ts'
import { coalesced } from '../../runtime/coalesced.ts'
import { isRecord } from '../../runtime/guards.ts'
import { isText, whyMissing } from '../../tools/results/read-result.ts'
import { HANDLE_PREFIX, onlyFor } from '../../tools/results/result-store.ts'
import type { Client } from '../clients.ts'
import { aborted } from '../http.ts'
import { FOLLOWING_MS, MAX_FOLLOWED, MAX_LISTED, MAX_MCP_ANSWER_BYTES } from '../limits.ts'
import { type CallToolOptions, callTool, withHelp } from './call-tool.ts'
import { SuspendedCalls } from './client-call.ts'
import { ClientTools, KnownClients, type OfferSettings } from './client-tools.ts'
import {
  CAPABILITIES,
  INVALID_REQUEST,
  isNewest,
  type LogLevel,
  levelRank,
  type McpRequest,
  NEWEST_VERSION,
  NOT_FOUND,
  newestResult,
  type Params,
  peerOf,
  SERVER_INFO,
  type Session,
  TASKS_EXTENSION,
} from './protocol.ts'
import { Tasks, taskMethods } from './tasks.ts'
import { ToolList } from './tool-list.ts'

export interface McpMethodsOptions extends CallToolOptions {
  /** The resources and prompts of the servers. */
  catalog?: Catalog | undefined
  /** Waits for the tools, for as long as it sees fit. */
  whenListed?: (() => Promise<void>) | undefined
  /** How tools are offered; read again for every list. */
  offer?: (() => OfferSettings) | undefined
}

export type McpMethod = (params: Params, request: McpRequest) => object | Promise<object>

/** The protocols that begin with `initialize`, newest first. */
export const SESSION_VERSIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS.filter(
  version => version !== NEWEST_VERSION,
)

const LISTS = ['tools', 'resources', 'prompts'] as const
const TYPES = { resources: 'Resource', templates: 'ResourceTemplate', prompts: 'Prompt' } as const

/** What a `subscriptions/listen` request wants to hear of. */
interface Subscription {
  request: McpRequest
  lists: readonly string[]
  uris: readonly string[]
}

/**
 * The methods of Toolpost as an MCP server: the executor's tools, and the resources and prompts of the MCP servers. The
 * same for requests of the newest protocol, each of which stands alone, and for sessions of the older ones.
 */
export class McpMethods {
  readonly #options: McpMethodsOptions
  readonly #catalog: Catalog
  readonly #list = new ToolList()
  readonly #suspended = new SuspendedCalls()
  readonly #tasks = new Tasks()
  readonly #known = new KnownClients()
  readonly #sessions = new Set<Session>()
  readonly #subscriptions = new Set<Subscription>()
  readonly #closing = new AbortController()
  readonly #stops: (() => void)[]
  readonly #common: Readonly<Record<string, McpMethod>>
  readonly #newest: Readonly<Record<string, McpMethod>>
  readonly #older: Readonly<Record<string, McpMethod>>

  constructor(options: McpMethodsOptions) {
    this.#options = options
    this.#catalog = options.catalog ?? new Catalog()
    this.#common = this.#commonMethods()
    this.#newest = this.#newestMethods()
    this.#older = this.#olderMethods()
    this.#stops = [
      this.#catalog.on('updated', uri => this.#updated(uri)),
      ...LISTS.flatMap(kind => {
        const { soon, stop } = coalesced(() => this.#changed(kind))
        const { tools } = options.executor
        return [stop, kind === 'tools' ? tools.onChange(soon) : this.#catalog.on(kind, soon)]
      }),
    ]
  }

  has(method: string, newest: boolean): boolean {
    return this.#find(method, newest) !== undefined
  }

  /** The result of a request; rejects with an RpcError. */
  async answer(request: McpRequest): Promise<Params> {
    const { method, params } = request
    const found = this.#find(method, isNewest(request))
    if (!found) throw new RpcError(`Method not found: ${method.slice(0, 100)}`, { code: METHOD_NOT_FOUND })
    try {
      return (await found(params, request)) as Params
    } catch (error) {
      // The newest protocol has no code of its own for resources that do not exist.
      if (!isNewest(request) || (error as RpcError).rpcCode !== NOT_FOUND) throw error
      throw new RpcError((error as Error).message, { code: INVALID_PARAMS, data: (error as RpcError).data })
    }
  }

  /** The methods for a connection: of a session, until a request says that it is of the newest protocol. */
  table(session: Session, client: () => Client | undefined): Readonly<Record<string, Method>> {
    const names = [this.#common, this.#newest, this.#older].flatMap(methods => Object.keys(methods))
    const method: Method = async (params, incoming) => {
      const meta = isRecord(params._meta) ? params._meta : {}
      const newest = isNewest({ meta })
      const result = await this.answer({
        id: incoming.id,
        method: incoming.method,
        signal: incoming.signal,
        params,
        meta,
        get client() {
          return client()
        },
        session: newest ? undefined : session,
        ...(incoming.extra as Pick<McpRequest, 'header' | 'startedAt'> | undefined),
        notify: incoming.notify,
        ...(!newest && { request: incoming.request }),
      })
      return newest ? newestResult(incoming.method, result) : result
    }
    return Object.fromEntries(names.map(name => [name, method]))
  }

  begin(session: Session): void {
    this.#sessions.add(session)
  }

  end(session: Session): void {
    this.#sessions.delete(session)
    for (const stop of session.followed.values()) stop()
    session.followed.clear()
    for (const tell of session.onClose) tell()
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#closing.abort()
    for (const stop of this.#stops) stop()
  }

  #find(method: string, newest: boolean): McpMethod | undefined {
    const own = newest ? this.#newest : this.#older
    if (Object.hasOwn(own, method)) return own[method]
    return Object.hasOwn(this.#common, method) ? this.#common[method] : undefined
  }

  #commonMethods(): Record<string, McpMethod> {
    const { whenListed } = this.#options
    const catalog = this.#catalog
    const list = async (kind: keyof typeof TYPES, { client }: McpRequest) => {
      await whenListed?.()
      const { entries, ...hint } = await catalog.list(kind, client?.access(kind))
      return { ...hint, [kind === 'templates' ? 'resourceTemplates' : kind]: usable(kind, entries) }
    }
    return {
      'tools/list': async (_, request) => {
        await whenListed?.()
        return { tools: await this.#list.entries(this.#toolsFor(request).listed(), isNewest(request)) }
      },
      'tools/call': (params, request) => this.#callTool(params, request),
      'resources/list': (_, request) => list('resources', request),
      'resources/templates/list': (_, request) => list('templates', request),
      'prompts/list': (_, request) => list('prompts', request),
      'resources/read': (params, request) => {
        const uri = textIn(params, 'uri')
        if (uri.startsWith(HANDLE_PREFIX)) return this.#readKept(uri, request)
        const access = request.client?.access('resources')
        return passed(
          withHelp(request, this.#suspended, { uri }, (from, signal) =>
            catalog.read(uri, { from, signal, access }),
          ),
        )
      },
      'prompts/get': (params, request) => {
        const name = textIn(params, 'name')
        const args = isRecord(params.arguments) ? params.arguments : undefined
        const access = request.client?.access('prompts')
        return passed(
          withHelp(request, this.#suspended, { name, args }, (from, signal) =>
            catalog.prompt(name, args, { from, signal, access }),
          ),
        )
      },
      'completion/complete': ({ ref, argument, context }, { client, signal }) => {
        if (!isRecord(ref) || !isRecord(argument))
          throw new RpcError("Invalid params: 'ref' and 'argument' must be objects", { code: INVALID_PARAMS })
        const access = client?.access(ref.type === 'ref/prompt' ? 'prompts' : 'templates')
        const asked = { ref, argument, ...(isRecord(context) && { context }) }
        return passed(catalog.complete(asked, { signal, access }))
      },
    }
  }

  #newestMethods(): Record<string, McpMethod> {
    return {
      'server/discover': (_, { client }) => ({
        supportedVersions: [NEWEST_VERSION],
        capabilities: { ...CAPABILITIES, extensions: { [TASKS_EXTENSION]: {} } },
        ...this.#instructions(client),
      }),
      'subscriptions/listen': (params, request) => this.#listen(params, request),
      ...taskMethods(this.#tasks, this.#options.source, (call, request) => this.#runAgain(call, request)),
    }
  }

  #olderMethods(): Record<string, McpMethod> {
    return {
      ping: () => ({}),
      initialize: async ({ protocolVersion, capabilities }, { session, client }) => {
        // In these protocols, the servers' instructions are sent at the start or never.
        await this.#options.whenListed?.()
        const version = SESSION_VERSIONS.find(each => each === protocolVersion) ?? SESSION_VERSIONS[0] ?? ''
        if (session) {
          session.version = version
          session.capabilities = isRecord(capabilities) ? capabilities : {}
        }
        return {
          protocolVersion: version,
          capabilities: CAPABILITIES,
          serverInfo: SERVER_INFO,
          ...this.#instructions(client),
        }
      },
      'logging/setLevel': async ({ level }, { session }) => {
        if (levelRank(level) < 0)
          throw new RpcError("Invalid params: unknown 'level'", { code: INVALID_PARAMS })
        if (!session) return {}
        session.level = level as LogLevel
        session.onClose.push(() => void this.#catalog.setLogLevel(session, undefined))
        await this.#catalog.setLogLevel(session, session.level)
        return {}
      },
      'resources/subscribe': async (params, { session, client, signal }) => {
        const uri = textIn(params, 'uri')
        if (!session) throw new RpcError('Subscriptions need a session', { code: INVALID_REQUEST })
        if (session.followed.size >= MAX_FOLLOWED && !session.followed.has(uri))
          throw new RpcError(`At most ${MAX_FOLLOWED} subscriptions per session`, { code: INVALID_REQUEST })
        const stop = await passed(this.#catalog.follow(uri, client?.access('resources')))
        session.followed.get(uri)?.()
        if (signal.aborted) stop()
        else session.followed.set(uri, stop)
        return {}
      },
      'resources/unsubscribe': (params, { session }) => {
        const uri = textIn(params, 'uri')
        session?.followed.get(uri)?.()
        session?.followed.delete(uri)
        return {}
      },
    }
  }

  #instructions(client: Client | undefined): { instructions?: string } {
    const instructions = this.#catalog.instructions(name => client?.seesServer(name) ?? true)
    return instructions ? { instructions } : {}
  }

  /** Stays open until the client goes away, and tells it what changes meanwhile. */
  async #listen({ notifications }: Params, request: McpRequest): Promise<object> {
    if (!isRecord(notifications))
      throw new RpcError(
        "Invalid params: 'notifications' is required and must be a valid SubscriptionFilter",
        {
          code: INVALID_PARAMS,
        },
      )
    const given = notifications.resourceSubscriptions
    const wanted = Array.isArray(given) ? given.filter(uri => typeof uri === 'string') : []
    const access = request.client?.access('resources')
    const few = wanted.slice(0, MAX_FOLLOWED)
    const uris = access ? await this.#catalog.allowed(few, access) : few
    const lists = LISTS.filter(kind => notifications[`${kind}ListChanged`] === true)
    const honored = {
      ...Object.fromEntries(lists.map(kind => [`${kind}ListChanged`, true])),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    }
    const _meta = { [SUBSCRIPTION_ID_META_KEY]: request.id }
    const following = Promise.all(uris.map(uri => this.#catalog.follow(uri).catch(() => () => {})))
    const subscription = { request, lists, uris }
    if (Object.keys(honored).length > 0) this.#subscriptions.add(subscription)
    // What is acknowledged is in force, unless a server takes long to say so.
    await Promise.race([following, pause(FOLLOWING_MS, undefined, { ref: false })])
    request.notify('notifications/subscriptions/acknowledged', { notifications: honored, _meta })
    if (Object.keys(honored).length === 0) return { _meta }
    await Promise.race([aborted(request.signal), aborted(this.#closing.signal)])
    this.#subscriptions.delete(subscription)
    for (const stop of await following) stop()
    return { _meta }
  }

  #changed(kind: string): void {
    const method = `notifications/${kind}/list_changed`
    for (const session of this.#sessions) session.notify(method)
    for (const { request, lists } of this.#subscriptions)
      if (lists.includes(kind)) request.notify(method, { _meta: { [SUBSCRIPTION_ID_META_KEY]: request.id } })
  }

  #updated(uri: string): void {
    const method = 'notifications/resources/updated'
    for (const { notify, followed } of this.#sessions) if (followed.has(uri)) notify(method, { uri })
    for (const { request, uris } of this.#subscriptions)
      if (uris.includes(uri))
        request.notify(method, { uri, _meta: { [SUBSCRIPTION_ID_META_KEY]: request.id } })
  }

  #toolsFor(request: McpRequest): ClientTools {
    const { executor, results, offer } = this.#options
    const { session, client } = request
    const conversation = session?.id ?? peerOf(undefined, request)
    return new ClientTools({
      executor,
      results,
      settings: offer?.() ?? {},
      client,
      discoveries: session?.discoveries ?? this.#known.of(`${client?.key} ${conversation}`),
      owner: { caller: client?.caller, conversation },
      onChange: () => {
        if (session) session.notify('notifications/tools/list_changed')
        else this.#changed('tools')
      },
    })
  }

  #callTool(params: Params, request: McpRequest): Promise<object> {
    const { arguments: given = {} } = params
    if (!isRecord(given))
      throw new RpcError("Invalid params: 'arguments' must be an object", { code: INVALID_PARAMS })
    const tools = this.#toolsFor(request)
    const { call, also } = tools.meant({ name: textIn(params, 'name'), args: given })
    const tasks = isNewest(request) ? this.#tasks : undefined
    return withHelp(
      request,
      this.#suspended,
      call,
      (help, signal, current) =>
        callTool({ ...call, also, tools, help, signal, current, request }, this.#options),
      tasks,
    )
  }

  /** Waits again for a durable run that another process began. */
  #runAgain(call: { name: string; args: Params; key: string }, request: McpRequest) {
    const tools = this.#toolsFor(request)
    return (...[help, signal, current]: Parameters<Parameters<typeof withHelp>[3]>) =>
      callTool({ ...call, also: [], tools, help, signal, current, request }, this.#options)
  }

  /** `resources/read` of a kept result, for its owner. */
  async #readKept(uri: string, request: McpRequest): Promise<object> {
    const { results } = this.#options
    const { owner } = this.#toolsFor(request)
    const found = (await results?.store.read(uri, onlyFor(owner))) ?? 'unknown'
    if (typeof found === 'string')
      throw new RpcError(whyMissing(uri, found, results?.minutes ?? 0), { code: NOT_FOUND, data: { uri } })
    const { content, mimeType, bytes } = found
    if (bytes > MAX_MCP_ANSWER_BYTES / 2)
      throw new RpcError(
        `${uri} has ${bytes} bytes, which is too large for MCP; read parts of it with read_result`,
      )
    const part = isText(mimeType) ? { text: content.toString() } : { blob: content.toString('base64') }
    return { contents: [{ uri, mimeType, ...part }] }
  }
}

function textIn(params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw new RpcError(`Invalid params: '${name}' must be a string`, { code: INVALID_PARAMS })
}

const checked = new WeakMap<object, boolean>()

/** Drops bad entries, since one makes a client reject the whole list. */
function usable(kind: keyof typeof TYPES, entries: CatalogList['entries']): CatalogList['entries'] {
  const good = entries.filter(entry => {
    const isGood = checked.get(entry) ?? isSpecType[TYPES[kind]](entry)
    checked.set(entry, isGood)
    return isGood
  })
  return good.slice(0, MAX_LISTED)
}

/** A failure keeps the server's own message, and its code if it has one. */
async function passed<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof RpcError) throw error
    const { message, rpcCode, data } = error as Error & { rpcCode?: number; data?: unknown }
    throw new RpcError(safeText(message, 2_000), { code: rpcCode, data })
  }
}
