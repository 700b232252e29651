import { setTimeout as pause } from 'node:timers/promises'
import {
  isSpecType,
  SUBSCRIPTION_ID_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import { safeText } from '../../logging/safe-value.ts'
import { Catalog, type CatalogList } from '../../mcp/catalog.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Method, RpcError } from '../../mcp/peer.ts'
import { DEFAULT_MAX_TOOLS } from '../../models/limits.ts'
import { isText, READ_RESULT, whyMissing } from '../../tools/results/read-result.ts'
import { HANDLE_PREFIX, onlyFor, type ResultOwner } from '../../tools/results/result-store.ts'
import { CALL_TOOL, FIND_TOOLS, innerCall, searchTools } from '../../tools/search/search-tools.ts'
import type { Tool } from '../../tools/tool.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { coalesced } from '../../util/coalesced.ts'
import { isRecord } from '../../util/guards.ts'
import type { Client } from '../clients.ts'
import { aborted, onSignal } from '../http.ts'
import { FOLLOWING_MS, MAX_FOLLOWED, MAX_LISTED, MAX_MCP_ANSWER_BYTES } from '../limits.ts'
import { type CallToolOptions, callTool } from './call-tool.ts'
import { ClientCalls } from './client-call.ts'
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
  paramsOf,
  peerOf,
  SERVER_INFO,
  type Session,
  TASKS_EXTENSION,
} from './protocol.ts'
import { Tasks } from './tasks.ts'
import { ToolList } from './tool-list.ts'

/** How tools are offered to clients. */
interface OfferSettings {
  /** The default for clients that do not configure it; `false` if left out. */
  toolSearch?: boolean | undefined
  /** If there are more tools, they are searched instead of listed; 40 if left out. */
  maxTools?: number | undefined
  /** Tools that are always listed: names with `*` and `?`. */
  pin?: readonly string[] | undefined
}

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
  readonly #tasks = new Tasks()
  readonly #calls = new ClientCalls(this.#tasks)
  readonly #sessions = new Set<Session>()
  readonly #subscriptions = new Set<Subscription>()
  readonly #closing = new AbortController()
  readonly #stops: (() => void)[]
  readonly #older: Readonly<Record<string, McpMethod>>
  readonly #newest: Readonly<Record<string, McpMethod>>

  constructor(options: McpMethodsOptions) {
    this.#options = options
    this.#catalog = options.catalog ?? new Catalog()
    const common = this.#commonMethods()
    this.#older = { ...common, ...this.#sessionMethods() }
    this.#newest = { ...common, ...this.#newestMethods(), ...this.#tasks.methods }
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
    return Object.hasOwn(newest ? this.#newest : this.#older, method)
  }

  /** The result of a request; rejects with an RpcError. */
  async answer(request: McpRequest): Promise<Params> {
    const { method, params } = request
    const newest = isNewest(request)
    if (!this.has(method, newest))
      throw new RpcError(`Method not found: ${method.slice(0, 100)}`, { code: METHOD_NOT_FOUND })
    const found = (newest ? this.#newest : this.#older)[method] as McpMethod
    try {
      const result = (await found(params, request)) as Params
      return newest ? newestResult(method, result) : result
    } catch (error) {
      // A failure keeps the server's own message, and its code if it has one.
      const { message, rpcCode, data } = error as RpcError
      // The newest protocol has no code of its own for resources that do not exist.
      const code = newest && rpcCode === NOT_FOUND ? INVALID_PARAMS : rpcCode
      throw new RpcError(error instanceof RpcError ? message : safeText(message, 2_000), { code, data })
    }
  }

  /** The methods for a connection: of a session, until a request says that it is of the newest protocol. */
  table(session: Session, client: () => Client | undefined): Readonly<Record<string, Method>> {
    const names = [...Object.keys(this.#older), ...Object.keys(this.#newest)]
    const method: Method = (params, { id, method, signal, extra, notify, request }) => {
      const { meta } = paramsOf({ params })
      const newest = isNewest({ meta })
      return this.answer({
        ...{ id, method, params, meta, notify },
        caller: onSignal(signal),
        get client() {
          return client()
        },
        ...(extra as Pick<McpRequest, 'header' | 'startedAt'> | undefined),
        ...(!newest && { session, request }),
      })
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
    void this.#catalog.setLogLevel(session, undefined)
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#closing.abort()
    for (const stop of this.#stops) stop()
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
        return { tools: await this.#list.entries(this.#listed(request), isNewest(request)) }
      },
      'tools/call': (params, request) => this.#callTool(params, request),
      'resources/list': (_, request) => list('resources', request),
      'resources/templates/list': (_, request) => list('templates', request),
      'prompts/list': (_, request) => list('prompts', request),
      'resources/read': (params, request) => {
        const uri = textIn(params, 'uri')
        if (uri.startsWith(HANDLE_PREFIX)) return this.#readKept(uri, request)
        const access = request.client?.access('resources')
        return this.#calls.run(request, { uri }, (from, { signal }) =>
          catalog.read(uri, { from, signal, access }),
        )
      },
      'prompts/get': (params, request) => {
        const name = textIn(params, 'name')
        const args = isRecord(params.arguments) ? params.arguments : undefined
        const access = request.client?.access('prompts')
        return this.#calls.run(request, { name, args }, (from, { signal }) =>
          catalog.prompt(name, args, { from, signal, access }),
        )
      },
      'completion/complete': ({ ref, argument, context }, { client, caller: { signal } }) => {
        if (!isRecord(ref) || !isRecord(argument)) throw invalid("'ref' and 'argument' must be objects")
        const access = client?.access(ref.type === 'ref/prompt' ? 'prompts' : 'templates')
        return catalog.complete({ ref, argument, ...(isRecord(context) && { context }) }, { signal, access })
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
    }
  }

  #sessionMethods(): Record<string, McpMethod> {
    return {
      ping: () => ({}),
      initialize: async ({ protocolVersion, capabilities }, { session, client }) => {
        // In these protocols, the servers' instructions are sent at the start or never.
        await this.#options.whenListed?.()
        const version = SESSION_VERSIONS.find(each => each === protocolVersion) ?? SESSION_VERSIONS[0] ?? ''
        if (session)
          Object.assign(session, { version, capabilities: isRecord(capabilities) ? capabilities : {} })
        const about = { capabilities: CAPABILITIES, serverInfo: SERVER_INFO }
        return { protocolVersion: version, ...about, ...this.#instructions(client) }
      },
      'logging/setLevel': async ({ level }, { session }) => {
        if (levelRank(level) < 0) throw invalid("unknown 'level'")
        if (!session) return {}
        session.level = level as LogLevel
        await this.#catalog.setLogLevel(session, session.level)
        return {}
      },
      'resources/subscribe': async (params, { session, client, caller }) => {
        const uri = textIn(params, 'uri')
        if (!session) throw new RpcError('Subscriptions need a session', { code: INVALID_REQUEST })
        if (session.followed.size >= MAX_FOLLOWED && !session.followed.has(uri))
          throw new RpcError(`At most ${MAX_FOLLOWED} subscriptions per session`, { code: INVALID_REQUEST })
        const stop = await this.#catalog.follow(uri, client?.access('resources'))
        session.followed.get(uri)?.()
        if (caller.signal.aborted) stop()
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
      throw invalid("'notifications' is required and must be a valid SubscriptionFilter")
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
    this.#subscriptions.add(subscription)
    // What is acknowledged is in force, unless a server takes long to say so.
    await Promise.race([following, pause(FOLLOWING_MS, undefined, { ref: false })])
    request.notify('notifications/subscriptions/acknowledged', { notifications: honored, _meta })
    if (Object.keys(honored).length > 0)
      await Promise.race([aborted(request.caller.signal), aborted(this.#closing.signal)])
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

  /** All tools of a client; or pinned ones and a search over the others, if it prefers that. */
  #listed(request: McpRequest): readonly Tool[] {
    const { executor, results, offer } = this.#options
    const { pin = [], maxTools = DEFAULT_MAX_TOOLS } = offer?.() ?? {}
    const all = this.#toolsOf(request)
    const owner = ownerOf(request)
    const isPinned = (tool: Tool) =>
      pin.some(pattern => fitsTool(pattern, tool, executor.tools.originOf(tool)?.server))
    const isSearched = all.length > maxTools && this.#searches(request)
    const helpers = [
      ...(isSearched ? this.#search(request) : []),
      // The reader of long results, once there is something to read.
      ...(results?.store.hasAny(onlyFor(owner)) ? [results.tool(owner)] : []),
    ]
    const shown = isSearched ? all.filter(isPinned) : all
    if (helpers.length === 0) return shown
    return [...helpers, ...shown.filter(({ name }) => !helpers.some(helper => helper.name === name))]
  }

  #toolsOf({ client }: McpRequest): readonly Tool[] {
    return client?.tools() ?? this.#options.executor.tools.getTools()
  }

  #searches({ client }: McpRequest): boolean {
    return client?.toolSearch ?? this.#options.offer?.().toolSearch ?? false
  }

  #search(request: McpRequest): Tool[] {
    return searchTools({ tools: this.#options.executor.tools, among: () => this.#toolsOf(request) })
  }

  async #callTool(params: Params, request: McpRequest): Promise<object> {
    const { results } = this.#options
    const { arguments: given = {} } = params
    if (!isRecord(given)) throw invalid("'arguments' must be an object")
    const searches = this.#searches(request)
    const asked = { name: textIn(params, 'name'), args: given }
    const call = searches ? innerCall(asked) : asked
    const owner = ownerOf(request)
    const isSearch = searches && (call.name === FIND_TOOLS || call.name === CALL_TOOL)
    const also = isSearch ? this.#search(request) : this.#reads(call) ? [results?.tool(owner) as Tool] : []
    const hasReader = () => results?.store.hasAny(onlyFor(owner)) ?? false
    const hadReader = hasReader()
    const work = (...[help, caller, current]: Parameters<Parameters<ClientCalls['run']>[2]>) =>
      callTool(
        { name: call.name, args: call.args, also, owner, help, caller, current, request },
        this.#options,
      )
    const answer = await this.#calls.run(request, call, work, true)
    if (!hadReader && hasReader()) {
      if (request.session) request.session.notify('notifications/tools/list_changed')
      else this.#changed('tools')
    }
    return answer
  }

  /** Whether it is a call of our `read_result`: a server may have a tool of that name for its own handles. */
  #reads({ name, args }: { name: string; args: Params }): boolean {
    const { results, executor } = this.#options
    if (name !== READ_RESULT || !results) return false
    const isOurs = results.store.find(String(args.handle), () => true) !== 'unknown'
    return isOurs || !executor.tools.findTool(READ_RESULT)
  }

  /** `resources/read` of a kept result, for its owner. */
  async #readKept(uri: string, request: McpRequest): Promise<object> {
    const { results } = this.#options
    const found = (await results?.store.read(uri, onlyFor(ownerOf(request)))) ?? 'unknown'
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

/** Whose long results are kept and read: those of one session, or of one client without a session. */
function ownerOf(request: McpRequest): ResultOwner {
  const conversation = request.session?.id ?? peerOf(undefined, request)
  return { caller: request.client?.caller, conversation }
}

function invalid(problem: string): RpcError {
  return new RpcError(`Invalid params: ${problem}`, { code: INVALID_PARAMS })
}

function textIn(params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw invalid(`'${name}' must be a string`)
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
