import { setTimeout as pause } from 'node:timers/promises'
import {
  isSpecType,
  PROTOCOL_VERSION_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import { safeText } from '../../logging/safe-value.ts'
import { Catalog } from '../../mcp/catalog.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Method, type Params, RpcError } from '../../mcp/peer.ts'
import { DEFAULT_MAX_TOOLS } from '../../models/limits.ts'
import { CALL_TOOL, FIND_TOOLS, innerCall, searchTools } from '../../tools/search/search-tools.ts'
import type { Tool } from '../../tools/tool.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { coalesced, unlessAborted } from '../../util/clock.ts'
import { isRecord } from '../../util/guards.ts'
import type { Client } from '../clients.ts'
import { onSignal } from '../http.ts'
import { FOLLOWING_MS, MAX_FOLLOWED, MAX_LISTED } from '../limits.ts'
import { type CallToolOptions, callTool } from './call-tool.ts'
import { ClientCalls } from './client-calls.ts'
import * as protocol from './protocol.ts'
import { toolEntries } from './tool-list.ts'

type McpRequest = protocol.McpRequest
type McpMethod = (params: Params, request: McpRequest) => object | Promise<object>

export interface McpMethodsOptions extends CallToolOptions {
  /** The resources and prompts of the servers. */
  catalog?: Catalog | undefined
  /** Waits for the tools, for as long as it sees fit. */
  whenListed?: (() => Promise<void>) | undefined
  /**
   * How tools are offered; read again for every list. With `toolSearch`, for clients that do not configure it, more than
   * `maxTools` tools are searched instead of listed, except for those in `pin`.
   */
  offer?:
    | (() => {
        toolSearch?: boolean | undefined
        maxTools?: number | undefined
        pin?: readonly string[] | undefined
      })
    | undefined
}

/** The protocols that begin with `initialize`, newest first. */
export const SESSION_VERSIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS.filter(
  version => version !== protocol.NEWEST_VERSION,
)

/** All are announced, even while there are no resources or prompts. */
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}
const LISTS = ['tools', 'resources', 'prompts'] as const
const TYPES = { resources: 'Resource', templates: 'ResourceTemplate', prompts: 'Prompt' } as const
const NEWEST_ONLY = /^(server\/discover|subscriptions\/listen|tasks\/.*)$/
const SESSIONS_ONLY = /^(ping|initialize|logging\/setLevel|resources\/(un)?subscribe)$/

/** What a `subscriptions/listen` request wants to hear of. */
interface Subscription {
  request: McpRequest
  lists: readonly string[]
  uris: readonly string[]
}

/**
 * The methods of Toolpost as an MCP server: the executor's tools, and the resources and prompts of the MCP servers. One
 * table for requests of the newest protocol, each of which stands alone, and for sessions of the older ones.
 */
export class McpMethods {
  readonly #options: McpMethodsOptions
  readonly #catalog: Catalog
  readonly #calls = new ClientCalls()
  readonly #sessions = new Set<protocol.Session>()
  readonly #subscriptions = new Set<Subscription>()
  readonly #closing = new AbortController()
  readonly #stops: (() => void)[]

  constructor(options: McpMethodsOptions) {
    this.#options = options
    this.#catalog = options.catalog ?? new Catalog()
    this.#stops = LISTS.flatMap(kind => {
      const { soon, stop } = coalesced(() => this.#tell(`notifications/${kind}/list_changed`, { kind }))
      const { tools } = options.executor
      return [stop, kind === 'tools' ? tools.onChange(soon) : this.#catalog.on(kind, soon)]
    })
    this.#stops.push(
      this.#catalog.on('updated', uri => this.#tell('notifications/resources/updated', { uri })),
    )
  }

  has(method: string, isNewest: boolean): boolean {
    return Object.hasOwn(this.#methods, method) && !(isNewest ? SESSIONS_ONLY : NEWEST_ONLY).test(method)
  }

  /** The result of a request; rejects with an RpcError. */
  async answer(request: McpRequest): Promise<Params> {
    const { method, params, session } = request
    if (!this.has(method, !session))
      throw new RpcError(`Method not found: ${method.slice(0, 100)}`, { code: METHOD_NOT_FOUND })
    try {
      const result = (await (this.#methods[method] as McpMethod)(params, request)) as Params
      return session ? result : protocol.newestResult(method, result)
    } catch (error) {
      // A failure keeps the server's own message, and its code if it has one.
      const { message, rpcCode, data } = error as RpcError
      // The newest protocol has no code of its own for resources that do not exist.
      const code = !session && rpcCode === protocol.NOT_FOUND ? INVALID_PARAMS : rpcCode
      throw new RpcError(error instanceof RpcError ? message : safeText(message, 2_000), { code, data })
    }
  }

  /** The methods for a connection that begins now: of a session, until a request says that it is of the newest protocol. */
  begin(session: protocol.Session, client: () => Client | undefined): Readonly<Record<string, Method>> {
    this.#sessions.add(session)
    const answer: Method = async (params, { id, method, signal, extra, notify, request }) => {
      const meta = protocol.metaIn(params)
      const headers = (extra as { request?: Request } | undefined)?.request?.headers
      if (method !== 'subscriptions/listen') session.running.add(id)
      try {
        const result = await this.answer({
          ...{ id, method, params, meta, notify, request, startedAt: undefined },
          caller: onSignal(signal),
          get client() {
            return client()
          },
          header: name => headers?.get(name) ?? undefined,
          session: meta[PROTOCOL_VERSION_META_KEY] === undefined ? session : undefined,
        })
        // Throws if it is too large.
        protocol.messageText(result)
        return result
      } finally {
        session.running.delete(id)
        if (session.running.size === 0) session.onIdle()
      }
    }
    return Object.fromEntries(Object.keys(this.#methods).map(name => [name, answer]))
  }

  end(session: protocol.Session): void {
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

  readonly #methods: Readonly<Record<string, McpMethod>> = {
    'tools/list': async (_, request) => {
      await this.#options.whenListed?.()
      return { tools: await toolEntries(this.#listed(request), !request.session) }
    },
    'tools/call': (params, request) => this.#callTool(params, request),
    'resources/list': (_, request) => this.#offers('resources', request),
    'resources/templates/list': (_, request) => this.#offers('templates', request),
    'prompts/list': (_, request) => this.#offers('prompts', request),
    'resources/read': (params, request) => {
      const uri = textIn(params, 'uri')
      const access = request.client?.access('resources')
      return this.#calls.run(request, { uri }, (from, { signal }) =>
        this.#catalog.read(uri, { from, signal, access }),
      )
    },
    'prompts/get': (params, request) => {
      const name = textIn(params, 'name')
      const args = isRecord(params.arguments) ? params.arguments : undefined
      const access = request.client?.access('prompts')
      return this.#calls.run(request, { name, args }, (from, { signal }) =>
        this.#catalog.prompt(name, args, { from, signal, access }),
      )
    },
    'completion/complete': ({ ref, argument, context }, { client, caller: { signal } }) => {
      if (!isRecord(ref) || !isRecord(argument))
        throw protocol.invalid("'ref' and 'argument' must be objects")
      const access = client?.access(ref.type === 'ref/prompt' ? 'prompts' : 'templates')
      const asked = { ref, argument, ...(isRecord(context) && { context }) }
      return this.#catalog.complete(asked, { signal, access })
    },

    // The 2025 protocols.
    ping: () => ({}),
    initialize: async ({ protocolVersion, capabilities }, { session, client }) => {
      // In these protocols, the servers' instructions are sent at the start or never.
      await this.#options.whenListed?.()
      const version = SESSION_VERSIONS.find(each => each === protocolVersion) ?? SESSION_VERSIONS[0] ?? ''
      if (session) session.version = version
      if (session && isRecord(capabilities)) session.capabilities = capabilities
      const about = { capabilities: CAPABILITIES, serverInfo: protocol.SERVER_INFO }
      return { protocolVersion: version, ...about, ...this.#instructions(client) }
    },
    'logging/setLevel': async ({ level }, { session }) => {
      if (!session || !protocol.LOG_LEVELS.includes(String(level))) throw protocol.invalid("unknown 'level'")
      session.level = String(level)
      await this.#catalog.setLogLevel(session, session.level)
      return {}
    },
    'resources/subscribe': async (params, { session, client, caller }) => {
      const uri = textIn(params, 'uri')
      const { followed } = session as protocol.Session
      if (followed.size >= MAX_FOLLOWED && !followed.has(uri))
        throw new RpcError(`At most ${MAX_FOLLOWED} subscriptions per session`, {
          code: protocol.INVALID_REQUEST,
        })
      const stop = await this.#catalog.follow(uri, client?.access('resources'))
      followed.get(uri)?.()
      if (caller.signal.aborted) stop()
      else followed.set(uri, stop)
      return {}
    },
    'resources/unsubscribe': (params, { session }) => {
      const uri = textIn(params, 'uri')
      session?.followed.get(uri)?.()
      session?.followed.delete(uri)
      return {}
    },

    // The newest protocol.
    'server/discover': (_, { client }) => ({
      supportedVersions: [protocol.NEWEST_VERSION],
      capabilities: { ...CAPABILITIES, extensions: { [protocol.TASKS_EXTENSION]: {} } },
      ...this.#instructions(client),
    }),
    'subscriptions/listen': (params, request) => this.#listen(params, request),
    ...this.#calls.methods,
  }

  #instructions(client: Client | undefined): { instructions?: string } {
    const instructions = this.#catalog.instructions(name => client?.seesServer(name) ?? true)
    return instructions ? { instructions } : {}
  }

  /** Bad entries are dropped, since one makes a client reject the whole list. */
  async #offers(kind: keyof typeof TYPES, { client }: McpRequest): Promise<object> {
    await this.#options.whenListed?.()
    const { entries, ...hint } = await this.#catalog.list(kind, client?.access(kind))
    const usable = entries.slice(0, MAX_LISTED).filter(entry => isSpecType[TYPES[kind]](entry))
    return { ...hint, [kind === 'templates' ? 'resourceTemplates' : kind]: usable }
  }

  /** Stays open until the client goes away, and tells it what changes meanwhile. */
  async #listen({ notifications }: Params, request: McpRequest): Promise<object> {
    if (!isRecord(notifications))
      throw protocol.invalid("'notifications' is required and must be a valid SubscriptionFilter")
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
    const closed = AbortSignal.any([request.caller.signal, this.#closing.signal])
    if (Object.keys(honored).length > 0) await unlessAborted(new Promise(() => {}), closed).catch(() => {})
    this.#subscriptions.delete(subscription)
    for (const stop of await following) stop()
    return { _meta }
  }

  /** Notifies sessions and subscriptions of a change: of a kind of list, or of one resource. */
  #tell(method: string, { kind = '', uri }: { kind?: string; uri?: string }): void {
    const params = uri === undefined ? {} : { uri }
    for (const { notify, followed } of this.#sessions)
      if (uri === undefined || followed.has(uri)) notify(method, params)
    for (const { request, lists, uris } of this.#subscriptions)
      if (lists.includes(kind) || (uri !== undefined && uris.includes(uri)))
        request.notify(method, { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: request.id } })
  }

  /** All tools of a client; or pinned ones and a search over the others, if it prefers that. */
  #listed(request: McpRequest): readonly Tool[] {
    const { executor, offer } = this.#options
    const { pin = [], maxTools = DEFAULT_MAX_TOOLS } = offer?.() ?? {}
    const all = this.#toolsOf(request)
    if (all.length <= maxTools || !this.#searches(request)) return all
    const isPinned = (tool: Tool) =>
      pin.some(pattern => fitsTool(pattern, tool, executor.tools.originOf(tool)?.server))
    return [...this.#search(request), ...all.filter(isPinned)]
  }

  #toolsOf({ client }: McpRequest): readonly Tool[] {
    return client?.tools() ?? this.#options.executor.tools.keepNames()
  }

  #searches({ client }: McpRequest): boolean {
    return client?.toolSearch ?? this.#options.offer?.().toolSearch ?? false
  }

  #search(request: McpRequest): Tool[] {
    return searchTools({ tools: this.#options.executor.tools, among: () => this.#toolsOf(request) })
  }

  #callTool(params: Params, request: McpRequest): Promise<object> {
    const { arguments: args = {} } = params
    if (!isRecord(args)) throw protocol.invalid("'arguments' must be an object")
    const asked = { name: textIn(params, 'name'), args }
    const searches = this.#searches(request)
    const call = searches ? innerCall(asked) : asked
    const isSearch = searches && (call.name === FIND_TOOLS || call.name === CALL_TOOL)
    const also = isSearch ? this.#search(request) : []
    return this.#calls.run(
      request,
      call,
      (help, caller, current) => callTool({ ...call, also, help, caller, current, request }, this.#options),
      true,
    )
  }
}

function textIn(params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw protocol.invalid(`'${name}' must be a string`)
}
