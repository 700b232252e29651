import { setTimeout as pause } from 'node:timers/promises'
import * as sdk from '@modelcontextprotocol/server'
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

/** Someone who is told of changes. */
interface Follower {
  readonly lists: readonly string[]
  /** By URI. */
  readonly followed: { has(uri: string): boolean }
  notify(method: string, params: object): void
}

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
export const SESSION_VERSIONS = sdk.SUPPORTED_PROTOCOL_VERSIONS.filter(
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
const TYPES = { resources: 'Resource', templates: 'ResourceTemplate', prompts: 'Prompt' } as const
const LISTEN = 'subscriptions/listen'
const NEWEST_ONLY = /^(server\/discover|subscriptions\/listen|tasks\/.*)$/
const SESSIONS_ONLY = /^(ping|initialize|logging\/setLevel|resources\/(un)?subscribe)$/

/**
 * The methods of Toolpost as an MCP server: the executor's tools, and the resources and prompts of the MCP servers. One
 * table for requests of the newest protocol, each of which stands alone, and for sessions of the older ones.
 */
export function createMethods(options: McpMethodsOptions) {
  const { executor, calls, catalog = new Catalog(), whenListed, offer } = options
  const { tools } = executor
  const clientCalls = new ClientCalls()
  /** Sessions, and `subscriptions/listen` requests: which lists and resources they want to hear of. */
  const followers = new Set<Follower>()
  const closing = new AbortController()
  const stops = protocol.LISTS.flatMap(kind => {
    const { soon, stop } = coalesced(() => tell(`notifications/${kind}/list_changed`, { kind }))
    return [stop, kind === 'tools' ? tools.onChange(soon) : catalog.on(kind, soon)]
  })
  stops.push(catalog.on('updated', uri => tell('notifications/resources/updated', { uri })))

  /** Notifies sessions and subscriptions of a change: of a kind of list, or of one resource. */
  function tell(method: string, { kind = '', uri }: { kind?: string; uri?: string }): void {
    const params = uri === undefined ? {} : { uri }
    for (const { notify, lists, followed } of followers)
      if (uri === undefined ? lists.includes(kind) : followed.has(uri)) notify(method, params)
  }

  function instructions(client: Client | undefined): { instructions?: string } {
    const text = catalog.instructions(name => client?.seesServer(name) ?? true)
    return text ? { instructions: text } : {}
  }

  /** Bad entries are dropped, since one makes a client reject the whole list. */
  const offers =
    (kind: keyof typeof TYPES): McpMethod =>
    async (_, { client }) => {
      await whenListed?.()
      const { entries, ...hint } = await catalog.list(kind, client?.access(kind))
      const usable = entries.slice(0, MAX_LISTED).filter(entry => sdk.isSpecType[TYPES[kind]](entry))
      return { ...hint, [kind === 'templates' ? 'resourceTemplates' : kind]: usable }
    }

  /** The tools of a client. */
  const toolsOf = ({ client }: McpRequest) => client?.tools() ?? tools.keepNames()
  const searches = ({ client }: McpRequest) => client?.toolSearch ?? offer?.().toolSearch ?? false
  const searchFor = (request: McpRequest) => searchTools({ tools, among: () => toolsOf(request) })

  /** All tools; or pinned ones and a search over the others, if the client prefers that. */
  function listed(request: McpRequest): readonly Tool[] {
    const { pin = [], maxTools = DEFAULT_MAX_TOOLS } = offer?.() ?? {}
    const all = toolsOf(request)
    if (all.length <= maxTools || !searches(request)) return all
    const isPinned = (tool: Tool) =>
      pin.some(pattern => fitsTool(pattern, tool, tools.originOf(tool)?.server))
    return [...searchFor(request), ...all.filter(isPinned)]
  }

  function call(params: Params, request: McpRequest): Promise<object> {
    const { arguments: args = {} } = params
    if (!isRecord(args)) throw protocol.invalid("'arguments' must be an object")
    const asked = { name: textIn(params, 'name'), args }
    const isSearching = searches(request)
    const { name, args: given } = isSearching ? innerCall(asked) : asked
    const also = isSearching && (name === FIND_TOOLS || name === CALL_TOOL) ? searchFor(request) : []
    const work: Parameters<ClientCalls['run']>[2] = (help, caller, current) =>
      callTool({ name, args: given, also, help, caller, current, request }, options)
    return clientCalls.run(request, { name, args: given }, work, true)
  }

  /** Stays open until the client goes away, and tells it what changes meanwhile. */
  async function listen({ notifications }: Params, request: McpRequest): Promise<object> {
    if (!isRecord(notifications))
      throw protocol.invalid("'notifications' is required and must be a valid SubscriptionFilter")
    const given = notifications.resourceSubscriptions
    const wanted = Array.isArray(given) ? given.filter(uri => typeof uri === 'string') : []
    const access = request.client?.access('resources')
    const few = wanted.slice(0, MAX_FOLLOWED)
    const uris = access ? await catalog.allowed(few, access) : few
    const lists = protocol.LISTS.filter(kind => notifications[`${kind}ListChanged`] === true)
    const honored = {
      ...Object.fromEntries(lists.map(kind => [`${kind}ListChanged`, true])),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    }
    const _meta = { [sdk.SUBSCRIPTION_ID_META_KEY]: request.id }
    const following = Promise.all(uris.map(uri => catalog.follow(uri).catch(() => () => {})))
    const notify = (method: string, params: object) => request.notify(method, { ...params, _meta })
    const follower = { lists, followed: new Set(uris), notify }
    followers.add(follower)
    // What is acknowledged is in force, unless a server takes long to say so.
    await Promise.race([following, pause(FOLLOWING_MS, undefined, { ref: false })])
    notify('notifications/subscriptions/acknowledged', { notifications: honored })
    const closed = AbortSignal.any([request.caller.signal, closing.signal])
    if (Object.keys(honored).length > 0) await unlessAborted(new Promise(() => {}), closed).catch(() => {})
    followers.delete(follower)
    for (const stop of await following) stop()
    return { _meta }
  }

  const methods: Readonly<Record<string, McpMethod>> = {
    'tools/list': async (_, request) => {
      await whenListed?.()
      return { tools: await toolEntries(listed(request), !request.session) }
    },
    'tools/call': call,
    'resources/list': offers('resources'),
    'resources/templates/list': offers('templates'),
    'prompts/list': offers('prompts'),
    'resources/read': (params, request) => {
      const uri = textIn(params, 'uri')
      const access = request.client?.access('resources')
      return clientCalls.run(request, { uri }, (from, { signal }) =>
        catalog.read(uri, { from, signal, access }),
      )
    },
    'prompts/get': (params, request) => {
      const name = textIn(params, 'name')
      const args = isRecord(params.arguments) ? params.arguments : undefined
      const access = request.client?.access('prompts')
      return clientCalls.run(request, { name, args }, (from, { signal }) =>
        catalog.prompt(name, args, { from, signal, access }),
      )
    },
    'completion/complete': ({ ref, argument, context }, { client, caller: { signal } }) => {
      if (!isRecord(ref) || !isRecord(argument))
        throw protocol.invalid("'ref' and 'argument' must be objects")
      const access = client?.access(ref.type === 'ref/prompt' ? 'prompts' : 'templates')
      return catalog.complete({ ref, argument, ...(isRecord(context) && { context }) }, { signal, access })
    },

    // The 2025 protocols.
    ping: () => ({}),
    initialize: async ({ protocolVersion, capabilities }, { session, client }) => {
      // In these protocols, the servers' instructions are sent at the start or never.
      await whenListed?.()
      const version = SESSION_VERSIONS.find(each => each === protocolVersion) ?? SESSION_VERSIONS[0] ?? ''
      if (session) session.version = version
      if (session && isRecord(capabilities)) session.capabilities = capabilities
      const about = { capabilities: CAPABILITIES, serverInfo: protocol.SERVER_INFO }
      return { protocolVersion: version, ...about, ...instructions(client) }
    },
    'logging/setLevel': ({ level }, { session }) => {
      if (!session || !protocol.LOG_LEVELS.includes(String(level))) throw protocol.invalid("unknown 'level'")
      session.level = String(level)
      catalog.setLogLevel(session.level)
      return {}
    },
    'resources/subscribe': async (params, { session, client, caller }) => {
      const uri = textIn(params, 'uri')
      const { followed } = session as protocol.Session
      if (followed.size >= MAX_FOLLOWED && !followed.has(uri))
        throw new RpcError(`At most ${MAX_FOLLOWED} subscriptions`, { code: protocol.INVALID_REQUEST })
      const stop = await catalog.follow(uri, client?.access('resources'))
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
      ...instructions(client),
    }),
    [LISTEN]: listen,
    ...clientCalls.methods,
  }

  const has = (method: string, isNewest: boolean) =>
    Object.hasOwn(methods, method) && !(isNewest ? SESSIONS_ONLY : NEWEST_ONLY).test(method)

  /** The result of a request; rejects with an RpcError. */
  async function answer(request: McpRequest): Promise<Params> {
    const { method, params, session } = request
    if (!has(method, !session))
      throw new RpcError(`Method not found: ${method.slice(0, 100)}`, { code: METHOD_NOT_FOUND })
    try {
      const result = (await (methods[method] as McpMethod)(params, request)) as Params
      return session ? result : protocol.newestResult(method, result)
    } catch (error) {
      // A failure keeps the server's own message, and its code if it has one.
      const { message, rpcCode, data } = error as RpcError
      // The newest protocol has no code of its own for resources that do not exist.
      const code = !session && rpcCode === protocol.NOT_FOUND ? INVALID_PARAMS : rpcCode
      throw new RpcError(error instanceof RpcError ? message : safeText(message, 2_000), { code, data })
    }
  }

  return {
    has,
    answer,

    /** The methods for a connection that begins now: of a session, until a request says that it is of the newest protocol. */
    begin(session: protocol.Session, client?: Client): Readonly<Record<string, Method>> {
      followers.add(session)
      const answerIn: Method = async (params, { id, method, signal, extra, notify, request }) => {
        const meta = protocol.metaIn(params)
        const headers = (extra as { request?: Request } | undefined)?.request?.headers
        const caller = onSignal(signal)
        const answered = async () => {
          const result = await answer({
            id,
            method,
            params,
            meta,
            notify,
            request,
            caller,
            client,
            startedAt: undefined,
            header: name => headers?.get(name) ?? undefined,
            session: meta[sdk.PROTOCOL_VERSION_META_KEY] === undefined ? session : undefined,
          })
          // Throws if it is too large.
          protocol.messageText(result)
          return result
        }
        if (method === LISTEN) return answered()
        session.running.add(id)
        return calls.run(caller, answered).finally(() => session.running.delete(id))
      }
      return Object.fromEntries(Object.keys(methods).map(name => [name, answerIn]))
    },

    end(session: protocol.Session): void {
      followers.delete(session)
      for (const stop of session.followed.values()) stop()
      session.followed.clear()
    },

    /** Ends all subscriptions. */
    close(): void {
      closing.abort()
      for (const stop of stops) stop()
    },
  }
}

function textIn(params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw protocol.invalid(`'${name}' must be a string`)
}
