import { getPath } from 'hono/utils/url'
import { removeFromLogs } from '../logging/redact.ts'
import { safeValue } from '../logging/safe-value.ts'
import type { Access } from '../mcp/catalog.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsName, fitsTool } from '../tools/tool-pattern.ts'
import type { Approval, BreakerStatus, ServerStatus } from './api-types.ts'
import { failure, headerIn, type NodeBindings } from './http.ts'
import { isSubject, type OAuthClients } from './oauth.ts'

/**
 * Someone with a token, and what they may use: patterns with `*` and `?`. All tools if `tools` is left out. Resources
 * and prompts: those named; all of them only if nothing is named at all.
 */
export interface ClientOptions {
  token: string
  tools?: readonly string[] | undefined
  /** URIs. */
  resources?: readonly string[] | undefined
  prompts?: readonly string[] | undefined
  /** Whether it may decide about other clients' waiting calls; by default only the owner does. */
  approves?: boolean | undefined
  /** Over MCP, search tools instead of listing more than a model should be shown; the gateway's setting if left out. */
  toolSearch?: boolean | undefined
}

export type ClientList = Readonly<Record<string, ClientOptions>>

/** The owner: whoever has the gateway's own token, or anyone if authentication is off. */
const OWNER = 'default'

interface ClientParts {
  name: string
  /** Identifies the owner of sessions; the name if left out. */
  key?: string
  /** The name if left out. */
  caller?: string | undefined
  /** What it may use; everything if left out. */
  may?: Omit<ClientOptions, 'token'> | undefined
}

/** Who makes a request, and what they may see and use: their own calls and, of the servers, what concerns their tools. */
export class Client {
  readonly name: string
  /** Its key for `Clients.named`; for an OAuth subject it includes the scopes of the token. */
  readonly key: string
  /** Recorded as the caller of its calls. Absent if no clients are configured. */
  readonly caller: string | undefined
  readonly #may: Omit<ClientOptions, 'token'>
  readonly #manager: ToolManager

  constructor(tools: ToolManager, parts: ClientParts) {
    const { name, key = name, may = {} } = parts
    this.name = name
    this.key = key
    this.caller = 'caller' in parts ? parts.caller : name
    this.#may = may
    this.#manager = tools
  }

  /** Whether it is anybody else than the owner, who sees everything. */
  get isNamed(): boolean {
    return this.name !== OWNER
  }

  /** Whether it may decide about calls that wait for approval. */
  get approves(): boolean {
    return !this.isNamed || this.#may.approves === true
  }

  /** Whether it searches its tools, if configured for it. */
  get toolSearch(): boolean | undefined {
    return this.#may.toolSearch
  }

  /** The tools it may use. */
  tools(): readonly Tool[] {
    const all = this.#manager.keepNames()
    return this.#may.tools ? all.filter(tool => this.mayUse(tool)) : all
  }

  /** The tool with this name, if the client may use it. */
  findTool(name: string): Tool | undefined {
    const tool = this.#manager.findTool(name)
    return tool && this.mayUse(tool) ? tool : undefined
  }

  mayUse(tool: Tool): boolean {
    const { tools: patterns } = this.#may
    if (!patterns) return true
    const server = this.#manager.originOf(tool)?.server
    return patterns.some(pattern => fitsTool(pattern, tool, server))
  }

  /** Which resources or prompts it may use; `undefined` for all. Those of a server also match as `server__prompt`. */
  access(kind: 'resources' | 'templates' | 'prompts'): Access | undefined {
    const { tools, resources, prompts } = this.#may
    const patterns = (kind === 'prompts' ? prompts : resources) ?? (tools ? [] : undefined)
    return patterns && ((server, key) => !climbs(key) && patterns.some(each => fitsName(each, key, server)))
  }

  /** Whether it may use any tool of a server. */
  seesServer(name: string): boolean {
    return !this.#may.tools || this.tools().some(tool => this.#manager.originOf(tool)?.server === name)
  }

  /** The tools for a call of the one with this name: all, or others than a forbidden one, which is then not found. */
  among(name: string): readonly Tool[] | undefined {
    if (!this.#may.tools || this.findTool(name)) return undefined
    // For suggestions. Another tool of the same name (or lc_name) would make the forbidden one look found.
    return this.tools().filter(each => each.name !== name && each.lc_name !== name)
  }

  /** Whether it may see a call or run, or a question from one. */
  sees({ caller }: { caller?: string | undefined }): boolean {
    return !this.isNamed || caller === this.name
  }

  /** The errors and output of servers are for the owner only. */
  seenServers(servers: readonly ServerStatus[]): readonly ServerStatus[] {
    if (!this.isNamed) return servers
    const usable = new Set(this.tools().map(({ name }) => name))
    return servers.map(({ breaker, target: _, hint: __, ...server }) => ({
      ...server,
      tools: server.tools.filter(name => usable.has(name)),
      error: server.error === undefined ? undefined : 'unavailable',
      stderr: '',
      ...(breaker && { breaker: withoutError(breaker) }),
    }))
  }

  /** If it may not decide, its own waiting calls only; if it may, those for tools it may use. */
  seenApprovals(approvals: readonly Approval[]): readonly Approval[] {
    if (!this.isNamed) return approvals
    return approvals
      .filter(approval => (this.approves ? this.findTool(approval.tool) : this.sees(approval)))
      .map(approval => ({ ...approval, args: safeValue(approval.args) }))
  }
}

function withoutError({ error: _, ...breaker }: BreakerStatus): BreakerStatus {
  return breaker
}

/** Whether a URI climbs with `..`, however encoded: it then means something else than the pattern sees. */
function climbs(uri: string): boolean {
  let plain = uri
  for (let pass = 0; pass < 3; pass++)
    plain = plain
      .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      // URL parsers drop these.
      .replace(/[\u0000-\u0020\u007f]/g, '')
  return /(?:^|[/\\:])\.\.(?:[/\\?#;]|$)/.test(plain)
}

export interface ClientsOptions {
  tools: ToolManager
  /** The owner's token; `false` lets everybody in as the owner. */
  token: string | false
  /** The configured clients; read again when the configuration changes. */
  list(): ClientList | undefined
  /** Clients with OAuth tokens. */
  oauth: OAuthClients
}

/** Identifies the client of a request by its token. */
export class Clients {
  readonly #options: ClientsOptions
  #token: string | false
  #list: ClientList | undefined
  #owner: Client
  #named = new Map<string, Client>()
  /** Looking up a token in a map compares seeded hashes first, whose timing reveals nothing. */
  #byToken = new Map<string, Client>()

  constructor(options: ClientsOptions) {
    this.#options = options
    this.#token = options.token
    this.#owner = this.#read()
  }

  /** Replaces the owner's token; the old one is no longer accepted. */
  setToken(token: string): void {
    this.#token = token
    this.#read()
  }

  /** The names of all clients; metrics count any other callers together. */
  names(): string[] {
    return [OWNER, ...this.#current().keys()]
  }

  /** The client of a request, or the response that refuses it. */
  admit(request: Request, authorization: string | undefined): Client | Response | Promise<Client | Response> {
    this.#current()
    if (this.#token === false) return this.#owner
    const token = /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]
    const client = token === undefined ? undefined : this.#byToken.get(token)
    return client ?? this.#options.oauth.admit(request)
  }

  /** The client as configured now; one that was removed may use nothing. */
  named(name: string): Client {
    const named = this.#current()
    if (name === OWNER) return this.#owner
    if (isSubject(name)) return this.#options.oauth.named(name)
    return named.get(name) ?? new Client(this.#options.tools, { name, may: { tools: [] } })
  }

  #current(): ReadonlyMap<string, Client> {
    if (this.#options.list() !== this.#list) this.#read()
    return this.#named
  }

  #read(): Client {
    const { list, tools } = this.#options
    this.#list = list()
    const entries = Object.entries(this.#list ?? {})
    this.#owner = new Client(tools, { name: OWNER, ...(entries.length === 0 && { caller: undefined }) })
    this.#named = new Map(entries.map(([name, may]) => [name, new Client(tools, { name, may })]))
    this.#byToken = new Map(entries.map(([name, { token }]) => [token, this.named(name)]))
    if (this.#token) this.#byToken.set(this.#token, this.#owner)
    removeFromLogs([...this.#byToken.keys()])
    return this.#owner
  }
}

export interface GuardOptions {
  /** Host names the gateway answers to, in addition to loopback. */
  hosts?: readonly string[] | undefined
  clients: Clients
  /** Whether a GET request needs no token. */
  isOpen(path: string): boolean
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Refuses what a foreign web page can make a browser send, and requests without a token. Checking Host keeps out pages
 * whose domain was pointed at this machine (DNS rebinding); requiring the exact Origin keeps out all others, including
 * those on another port. The page itself is open, since a browser cannot send a token with it, and so is the OAuth
 * metadata; neither contains data. A function in front of the routes, because as a middleware it costs a third of a call.
 */
export function createGuard({ hosts = [], clients, isOpen }: GuardOptions) {
  const known = new Set([...LOOPBACK, ...hosts.map(host => hostnameOf(host) ?? host)])
  const accepted = new Set<string>()
  const isKnown = (host: string) => {
    if (accepted.has(host)) return true
    const isOurs = known.has(hostnameOf(host) ?? '')
    if (isOurs && accepted.size < 100) accepted.add(host)
    return isOurs
  }
  /** The client, the response that refuses the request, or `undefined` if it needs no client. */
  return (request: Request, env: NodeBindings): ReturnType<Clients['admit']> | undefined => {
    const header = (name: string) => headerIn(request, env, name)
    const host = header('host') ?? new URL(request.url).host
    const origin = header('origin')
    const site = header('sec-fetch-site') ?? 'none'
    const open = (request.method === 'GET' || request.method === 'HEAD') && isOpen(getPath(request))
    if (!isKnown(host)) return failure(403, 'Host not allowed')
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
      return failure(403, 'Origin not allowed')
    // For requests without an Origin, such as images. Any page may link to ours.
    const isLink = open && header('sec-fetch-mode') === 'navigate'
    if (site !== 'same-origin' && site !== 'none' && !isLink)
      return failure(403, 'Cross-site requests are not allowed')
    return open ? undefined : clients.admit(request, header('authorization'))
  }
}

/** The host a request was sent to, as the client names it. */
export function hostOf({ headers, url }: Request): string {
  return headers.get('host') ?? new URL(url).host
}

/** Without its port; an IPv6 address may come without brackets. */
function hostnameOf(host: string): string | undefined {
  const address = host.includes(':') && !host.includes(']') && host.split(':').length > 2 ? `[${host}]` : host
  return URL.canParse(`http://${address}`) ? new URL(`http://${address}`).hostname : undefined
}
