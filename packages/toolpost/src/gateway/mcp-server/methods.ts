import { setTimeout as delay } from 'node:timers/promises'
import type { Transport } from '@modelcontextprotocol/server'
import * as sdk from '@modelcontextprotocol/server'
import type { RunOptions } from '../../executor/options.ts'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { Catalog } from '../../mcp/catalog.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Method, type Params, Peer, RpcError } from '../../mcp/peer.ts'
import { DEFAULT_MAX_TOOLS } from '../../models/limits.ts'
import { traceContext } from '../../telemetry/trace-context.ts'
import type { Ask } from '../../tools/caller.ts'
import { CALL_TOOL, FIND_TOOLS, innerCall, searchTools } from '../../tools/search/search-tools.ts'
import type { Tool } from '../../tools/tool.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { coalesced, unlessAborted } from '../../util/clock.ts'
import { isRecord, ownValue } from '../../util/guards.ts'
import type { ActiveCalls } from '../active-calls.ts'
import type { Client } from '../clients.ts'
import type { GatewaySource } from '../context.ts'
import { Disconnected, onSignal } from '../http.ts'
import { FOLLOWING_MS, MAX_FOLLOWED, MAX_LISTED, PROGRESS_GAP_MS } from '../limits.ts'
import { callResult, failedResult } from './call-result.ts'
import { ClientCalls, type Help } from './client-calls.ts'
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
type McpMethods = Readonly<Record<string, McpMethod>>

export interface McpMethodsOptions {
  source: GatewaySource
  calls: ActiveCalls
  /** Asks the user if the client cannot show a question. */
  ask?: Ask | undefined
  /** Waits for the tools, for as long as it sees fit. */
  whenListed?: (() => Promise<void>) | undefined
}

interface ConnectOptions {
  client?: Client | undefined
  /** Logs what is wrong with what the client sends. */
  onProblem: Logger['warn']
  onEnd?(): void
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

/**
 * The methods of Toolpost as an MCP server: the executor's tools, and the resources and prompts of the MCP servers. One
 * table for requests of the newest protocol, each of which stands alone, and for sessions of the older ones.
 */
export function createMethods({ source, calls, ask, whenListed }: McpMethodsOptions) {
  const { executor, catalog = new Catalog() } = source
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
  const searches = ({ client }: McpRequest) =>
    client?.toolSearch ?? source.config?.gateway?.toolSearch ?? false
  const searchFor = (request: McpRequest) => searchTools({ tools, among: () => toolsOf(request) })

  /** All tools; or, if there are more than a model is shown and the client searches, the pinned ones and a search. */
  function listed(request: McpRequest): readonly Tool[] {
    const { pin = [], maxTools = DEFAULT_MAX_TOOLS } = source.config?.models ?? {}
    const all = toolsOf(request)
    if (all.length <= maxTools || !searches(request)) return all
    const isPinned = (tool: Tool) =>
      pin.some(pattern => fitsTool(pattern, tool, tools.originOf(tool)?.server))
    return [...searchFor(request), ...all.filter(isPinned)]
  }

  function callTool(params: Params, request: McpRequest): Promise<object> {
    const { arguments: args = {} } = params
    if (!isRecord(args)) throw protocol.invalid("'arguments' must be an object")
    const asked = { name: textIn(params, 'name'), args }
    const isSearching = searches(request)
    const call = isSearching ? innerCall(asked) : asked
    const isSearch = isSearching && (call.name === FIND_TOOLS || call.name === CALL_TOOL)
    const also = isSearch ? searchFor(request) : []
    return clientCalls.run(request, call, (...help) => run(call, also, request, ...help), true)
  }

  /** Runs a call with the help of its client; `also` are tools outside the manager. */
  async function run(
    call: { name: string; args: Params },
    also: readonly Tool[],
    { client, session, meta, header, startedAt }: McpRequest,
    help: Help,
    caller: AbortController,
  ): Promise<object> {
    const { name } = call
    if (calls.isDraining) return failedResult('Toolpost is shutting down')
    if (also.length === 0) await calls.waitForTool(source, name, { caller })
    let progressAt = Number.NEGATIVE_INFINITY
    const onProgress: RunOptions['onProgress'] = progress => {
      progressAt = performance.now()
      help.onProgress?.(progress)
    }
    // A trace in the message takes precedence over one in the HTTP headers.
    const traced = traceContext(header)
    const isTraced = traced && !traceContext(key => meta[key])?.traceparent
    // Written out: a spread is slow here.
    const runOptions: RunOptions = {
      peer: help.peer,
      ask: help.ask ?? ask,
      sample: help.sample,
      roots: help.roots,
      onLog: help.onLog,
      onTask: help.onTask,
      onProgress: help.onProgress && onProgress,
      caller: client?.caller,
      among: client?.among(name),
      also,
      conversation: session?.id,
      origin: 'mcp',
      startedAt,
      meta: isTraced ? { ...meta, ...traced } : meta,
      signal: caller.signal,
    }
    const result = await calls.run(caller, () => executor.run(call, runOptions))
    // The SDK's clients drop progress that arrives together with the result.
    if (performance.now() - progressAt < PROGRESS_GAP_MS) await delay(PROGRESS_GAP_MS)
    return callResult(result, tools.findTool(name), { tools, isNewest: !session })
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
    await Promise.race([following, delay(FOLLOWING_MS, undefined, { ref: false })])
    notify('notifications/subscriptions/acknowledged', { notifications: honored })
    const closed = AbortSignal.any([request.caller.signal, closing.signal])
    if (Object.keys(honored).length > 0) await unlessAborted(new Promise(() => {}), closed).catch(() => {})
    followers.delete(follower)
    for (const stop of await following) stop()
    return { _meta }
  }

  const common: McpMethods = {
    'tools/list': async (_, request) => {
      await whenListed?.()
      return { tools: await toolEntries(listed(request), !request.session) }
    },
    'tools/call': callTool,
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
  }

  /** Of the 2025 protocols. */
  const inSessions: McpMethods = {
    ...common,
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
  }

  const newest: McpMethods = {
    ...common,
    'server/discover': (_, { client }) => ({
      supportedVersions: [protocol.NEWEST_VERSION],
      capabilities: { ...CAPABILITIES, extensions: { [protocol.TASKS_EXTENSION]: {} } },
      ...instructions(client),
    }),
    [LISTEN]: listen,
    ...clientCalls.methods,
  }

  const methodOf = (method: string, isNewest: boolean) => ownValue(isNewest ? newest : inSessions, method)

  /** The result of a request; rejects with an RpcError. */
  async function answer(request: McpRequest): Promise<Params> {
    const { method, params, session } = request
    const known = methodOf(method, !session)
    if (!known) throw new RpcError(`Method not found: ${method.slice(0, 100)}`, { code: METHOD_NOT_FOUND })
    try {
      const result = (await known(params, request)) as Params
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
    answer,
    has: (method: string) => methodOf(method, true) !== undefined,

    /** Serves a connection: a session of a 2025 protocol, until a request says that it is of the newest one. */
    connect(transport: Transport, { client, onProblem, onEnd }: ConnectOptions) {
      const session = protocol.newSession((method, params) => {
        // Clients of the newest protocol do not initialize, and hear of changes only if they listen.
        if (session.version !== '') void peer.notify(method, params)
      })
      const answerIn: Method = async (params, incoming) => {
        const { id, method, signal, extra } = incoming
        const meta = protocol.metaIn(params)
        const headers = (extra as { request?: Request } | undefined)?.request?.headers
        const caller = onSignal(signal)
        const answered = async () => {
          const result = await answer({
            ...incoming,
            params,
            meta,
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
        session.busyWith.add(id)
        return calls.run(caller, answered).finally(() => session.busyWith.delete(id))
      }
      const names = Object.keys({ ...inSessions, ...newest })
      const peer: Peer = new Peer(transport, {
        methods: Object.fromEntries(names.map(name => [name, answerIn])),
        onError: error => onProblem({ error: safeText(error.message) }, 'MCP client problem'),
        onClose: () => {
          followers.delete(session)
          for (const stop of session.followed.values()) stop()
          onEnd?.()
          return new Disconnected('Connection closed')
        },
      })
      followers.add(session)
      return { session, peer }
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
