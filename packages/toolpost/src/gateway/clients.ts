import { getPath } from 'hono/utils/url'
import type { BreakerStatus } from '../call/breaker-status.ts'
import type { Approval } from '../interceptors/index.ts'
import { removeFromLogs } from '../logging/redact.ts'
import { safeValue } from '../logging/safe-value.ts'
import type { Access } from '../mcp/catalog.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import type { ClientOptions } from '../project/config.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsName, fitsTool } from '../tools/tool-pattern.ts'
import type { GatewaySource } from './context.ts'
import { type Bindings, headerIn, refusal } from './http.ts'
import type { OAuthClients } from './oauth.ts'

/** The owner: whoever has the gateway's own token, or anyone if authentication is off. */
const OWNER = 'default'

type Rights = Partial<ClientOptions>
/** What a client that is no longer configured may use. */
const NOTHING: Rights = { tools: [] }

/** Who makes a request, and what they may see and use: their own calls and, of the servers, what concerns their tools. */
export class Client {
  readonly name: string
  /** Whether it is anybody else than the owner, who sees everything. */
  readonly isNamed: boolean
  /** Recorded as the caller of its calls; the owner has none if there are no other clients. */
  readonly caller: string | undefined
  /** Differs from its name for an OAuth subject: each set of scopes is another client. */
  readonly key: string
  readonly #rights: () => Rights
  readonly #manager: ToolManager

  /** `rights` is called whenever they are needed, since they can change at any time. */
  constructor(
    tools: ToolManager,
    name: string,
    rights: () => Rights,
    { key = name, isAlone = false }: { key?: string; isAlone?: boolean } = {},
  ) {
    this.name = name
    this.isNamed = name !== OWNER
    this.caller = isAlone ? undefined : name
    this.key = key
    this.#rights = rights
    this.#manager = tools
  }

  /** Whether it may decide about calls that wait for approval. */
  get approves(): boolean {
    return !this.isNamed || this.#rights().approves === true
  }

  /** Whether it searches its tools, if configured for it. */
  get toolSearch(): boolean | undefined {
    return this.#rights().toolSearch
  }

  /** The tools it may use. */
  tools(): readonly Tool[] {
    const all = this.#manager.keepNames()
    return this.#rights().tools ? all.filter(tool => this.#mayUse(tool)) : all
  }

  /** The tool with this name, if the client may use it. */
  findTool(name: string): Tool | undefined {
    const tool = this.#manager.findTool(name)
    return tool && this.#mayUse(tool) ? tool : undefined
  }

  #mayUse(tool: Tool): boolean {
    const server = this.#manager.originOf(tool)?.server
    return this.#rights().tools?.some(pattern => fitsTool(pattern, tool, server)) ?? true
  }

  /** Which resources or prompts it may use; `undefined` for all. Those of a server also match as `server__prompt`. */
  access(kind: 'resources' | 'templates' | 'prompts'): Access | undefined {
    const { tools, resources, prompts } = this.#rights()
    const patterns = (kind === 'prompts' ? prompts : resources) ?? (tools ? [] : undefined)
    return patterns && ((server, key) => !climbs(key) && patterns.some(each => fitsName(each, key, server)))
  }

  /** Whether it may use any tool of a server. */
  seesServer(name: string): boolean {
    return !this.#rights().tools || this.tools().some(tool => this.#manager.originOf(tool)?.server === name)
  }

  /** The tools for a call of the one with this name: all, or others than a forbidden one, which is then not found. */
  among(name: string): readonly Tool[] | undefined {
    if (!this.#rights().tools || this.findTool(name)) return undefined
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
    const seen = servers.filter(({ name }) => this.seesServer(name))
    return seen.map(({ breaker, target: _, hint: __, ...server }) => ({
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

export type Clients = ReturnType<typeof createClients>

/** Identifies the client of a request by its token. `ownToken` is the owner's; with `false`, everybody is the owner. */
export function createClients(source: GatewaySource, oauth: OAuthClients, ownToken: string | false) {
  const { tools } = source.executor
  const list = () => source.config?.clients
  let token = ownToken
  let known = readAll()

  function readAll() {
    const current = list()
    const named = Object.entries(current ?? {}).map(([name, { token }]) => {
      const client = new Client(tools, name, () => list()?.[name] ?? NOTHING)
      return [token, client] as const
    })
    const owner = new Client(tools, OWNER, () => ({}), { isAlone: named.length === 0 })
    const all = token === false ? named : [...named, [token, owner] as const]
    removeFromLogs(all.map(([secret]) => secret))
    // By the Authorization header. A map compares seeded hashes first, whose timing reveals nothing.
    const byHeader = new Map(all.map(([secret, client]) => [`Bearer ${secret}`, client]))
    return { list: current, owner, byHeader }
  }

  return {
    get token() {
      return token
    },

    /** Replaces the owner's token; the old one is no longer accepted. */
    setToken(next: string): void {
      token = next
      known = readAll()
    },

    /** The client of a request. Throws a refusal. */
    admit(request: Request, env: Bindings): Client | Promise<Client> {
      if (list() !== known.list) known = readAll()
      if (token === false) return known.owner
      const given = headerIn(request, env, 'authorization') ?? ''
      const found = known.byHeader.get(given) ?? known.byHeader.get(given.replace(/^bearer +/i, 'Bearer '))
      return found ?? oauth.admit(request, env)
    },
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
  /** The client, or `undefined` if the request needs none. Throws a refusal. */
  return (request: Request, env: Bindings): Client | Promise<Client> | undefined => {
    const header = (name: string) => headerIn(request, env, name)
    const host = hostOf(request, env)
    const origin = header('origin')
    const site = header('sec-fetch-site') ?? 'none'
    const open = (request.method === 'GET' || request.method === 'HEAD') && isOpen(getPath(request))
    if (host !== lastHost && !known.has(hostnameOf(host) ?? '')) throw refusal(403, 'Host not allowed')
    lastHost = host
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
      throw refusal(403, 'Origin not allowed')
    // For requests without an Origin, such as images. Any page may link to ours.
    const isLink = open && header('sec-fetch-mode') === 'navigate'
    if (site !== 'same-origin' && site !== 'none' && !isLink)
      throw refusal(403, 'Cross-site requests are not allowed')
    return open ? undefined : clients.admit(request, env)
  }
}

/** The host a request was sent to, as the client names it. */
export function hostOf(request: Request, env: Bindings): string {
  return headerIn(request, env, 'host') ?? new URL(request.url).host
}

/** Without its port; an IPv6 address may come without brackets. */
function hostnameOf(host: string): string | undefined {
  const address = host.includes(':') && !host.includes(']') && host.split(':').length > 2 ? `[${host}]` : host
  return URL.canParse(`http://${address}`) ? new URL(`http://${address}`).hostname : undefined
}
