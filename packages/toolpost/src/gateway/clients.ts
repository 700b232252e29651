import { getPath } from 'hono/utils/url'
import { removeFromLogs } from '../logging/redact.ts'
import { safeValue } from '../logging/safe-value.ts'
import type { Access } from '../mcp/catalog.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsName, fitsTool } from '../tools/tool-pattern.ts'
import type { Approval, BreakerStatus, ServerStatus } from './api-types.ts'
import { failure, headerIn, type NodeBindings } from './http.ts'
import type { OAuthClients } from './oauth.ts'

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

/** Who makes a request, and what they may see and use: their own calls and, of the servers, what concerns their tools. */
export class Client {
  readonly name: string
  /** Whether it is anybody else than the owner, who sees everything. */
  readonly isNamed: boolean
  /** Recorded as the caller of its calls; the owner has none if there are no other clients. */
  readonly caller: string | undefined
  /** Its key for `Clients.named`; for an OAuth subject it includes the scopes of the token. */
  readonly key: string
  /** Whether it may decide about calls that wait for approval. */
  readonly approves: boolean
  /** Whether it searches its tools, if configured for it. */
  readonly toolSearch: boolean | undefined
  readonly #may: Partial<ClientOptions>
  readonly #manager: ToolManager

  constructor(
    tools: ToolManager,
    name: string,
    may: Partial<ClientOptions> = {},
    { key = name, isAlone = false } = {},
  ) {
    this.name = name
    this.isNamed = name !== OWNER
    this.caller = isAlone ? undefined : name
    this.key = key
    this.approves = !this.isNamed || may.approves === true
    this.toolSearch = may.toolSearch
    this.#may = may
    this.#manager = tools
  }

  /** The tools it may use. */
  tools(): readonly Tool[] {
    const all = this.#manager.keepNames()
    return this.#may.tools ? all.filter(tool => this.#mayUse(tool)) : all
  }

  /** The tool with this name, if the client may use it. */
  findTool(name: string): Tool | undefined {
    const tool = this.#manager.findTool(name)
    return tool && this.#mayUse(tool) ? tool : undefined
  }

  #mayUse(tool: Tool): boolean {
    const server = this.#manager.originOf(tool)?.server
    return this.#may.tools?.some(pattern => fitsTool(pattern, tool, server)) ?? true
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
      ...(breaker && { breaker: { ...breaker, error: undefined } as unknown as BreakerStatus }),
    }))
  }

  /** If it may not decide, its own waiting calls only; if it may, those for tools it may use. */
  seenApprovals(approvals: readonly Approval[] = []): readonly Approval[] {
    if (!this.isNamed) return approvals
    return approvals
      .filter(approval => (this.approves ? this.findTool(approval.tool) : this.sees(approval)))
      .map(approval => ({ ...approval, args: safeValue(approval.args) }))
  }
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

interface ClientsOptions {
  tools: ToolManager
  /** The owner's token; `false` lets everybody in as the owner. */
  token: string | false
  /** The configured clients; read again when the configuration changes. */
  list(): ClientList | undefined
  oauth: OAuthClients
}

/** Identifies the client of a request by its token. */
export class Clients {
  readonly #options: ClientsOptions
  #list: ClientList | undefined
  #named = new Map<string, Client>()
  /** By the Authorization header. A map compares seeded hashes first, whose timing reveals nothing. */
  #byToken = new Map<string, Client>()

  constructor(options: ClientsOptions) {
    this.#options = { ...options }
    this.#read()
  }

  /** Replaces the owner's token; the old one is no longer accepted. */
  setToken(token: string): void {
    this.#options.token = token
    this.#read()
  }

  /** The client of a request, or the response that refuses it. */
  admit(request: Request, authorization = ''): Client | Response | Promise<Client | Response> {
    const { token, list, oauth } = this.#options
    if (token === false) return this.named(OWNER)
    if (list() !== this.#list) this.#read()
    const known = this.#byToken.get(authorization)
    return known ?? this.#byToken.get(authorization.replace(/^bearer +/i, 'Bearer ')) ?? oauth.admit(request)
  }

  /** The client as configured now; one that was removed may use nothing. */
  named(name: string): Client {
    const { list, oauth, tools } = this.#options
    if (list() !== this.#list) this.#read()
    // Configured clients have no colon in their name.
    if (/^oauth(-client)?:/.test(name)) return oauth.named(name)
    return this.#named.get(name) ?? new Client(tools, name, { tools: [] })
  }

  #read(): void {
    const { list, tools, token } = this.#options
    this.#list = list()
    const entries = Object.entries(this.#list ?? {})
    const owner = new Client(tools, OWNER, {}, { isAlone: entries.length === 0 })
    const all: [Client, string | false][] = [
      ...entries.map(([name, may]): [Client, string] => [new Client(tools, name, may), may.token]),
      [owner, token],
    ]
    this.#named = new Map(all.map(([client]) => [client.name, client]))
    const known = all.filter((each): each is [Client, string] => each[1] !== false)
    this.#byToken = new Map(known.map(([client, secret]) => [`Bearer ${secret}`, client]))
    removeFromLogs(known.map(([, secret]) => secret))
  }
}

/**
 * Refuses what a foreign web page can make a browser send, and requests without a token. Checking Host keeps out pages
 * whose domain was pointed at this machine (DNS rebinding); requiring the exact Origin keeps out all others, including
 * those on another port. The page itself is open, since a browser cannot send a token with it, and so is the OAuth
 * metadata; neither contains data. A function in front of the routes, because as a middleware it costs a third of a call.
 * `hosts` are names in addition to loopback; `isOpen` says whether a GET request needs no token.
 */
export function createGuard(
  clients: Clients,
  isOpen: (path: string) => boolean,
  hosts: readonly string[] = [],
) {
  const known = new Set(['localhost', '127.0.0.1', '[::1]', ...hosts.map(host => hostnameOf(host) ?? host)])
  let lastHost: string | undefined
  /** The client, the response that refuses the request, or `undefined` if it needs no client. */
  return (request: Request, env: NodeBindings): ReturnType<Clients['admit']> | undefined => {
    const header = (name: string) => headerIn(request, env, name)
    const host = header('host') ?? new URL(request.url).host
    const origin = header('origin')
    const site = header('sec-fetch-site') ?? 'none'
    const open = (request.method === 'GET' || request.method === 'HEAD') && isOpen(getPath(request))
    if (host !== lastHost && !known.has(hostnameOf(host) ?? '')) return failure(403, 'Host not allowed')
    lastHost = host
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
