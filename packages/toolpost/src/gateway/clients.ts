import { createHash, timingSafeEqual } from 'node:crypto'
import type { RunOptions } from '../executor/options.ts'
import { removeFromLogs } from '../logging/safe-value.ts'
import type { Access } from '../mcp/catalog.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsName, fitsTool } from '../tools/tool-pattern.ts'
import { failure, NO_TOKEN } from './http/answers.ts'
import type { OAuthClients } from './oauth/oauth-clients.ts'
import { isSubject } from './oauth/subject.ts'

/**
 * Somebody with a token, and what they may use: patterns with `*` and `?`. All tools if left out; all resources and
 * prompts too if nothing at all is said, else only those that are named.
 */
export interface ClientOptions {
  token: string
  tools?: readonly string[] | undefined
  /** URIs. */
  resources?: readonly string[] | undefined
  prompts?: readonly string[] | undefined
  /** Over MCP, more tools than a model should be shown are searched instead of listed; as the gateway says if left out. */
  toolSearch?: boolean | undefined
}

export type ClientList = Readonly<Record<string, ClientOptions>>

/** Whoever has the gateway's own token, or needs none. */
export const DEFAULT_CLIENT = 'default'

/** The answer that turns a request away, if it is. */
export type Refusal = Response | undefined

interface ClientParts {
  name?: string
  /** Whose sessions are whose; the name if left out. */
  key?: string
  caller?: string
  /** Everything if left out. */
  may?: Omit<ClientOptions, 'token'> | undefined
}

/** Who makes a request, and what they may see and use. */
export class Client {
  readonly name: string
  /** As whom `Clients.named` knows it: for a subject of an OAuth issuer, also what its token allows. */
  readonly key: string
  /** Whose calls they are. Without clients in the configuration, nobody's in particular. */
  readonly caller: string | undefined
  readonly #may: Omit<ClientOptions, 'token'>
  readonly #patterns: readonly string[] | undefined
  readonly #manager: ToolManager
  readonly #allowed = new WeakMap<Tool, boolean>()

  constructor(tools: ToolManager, parts: ClientParts = {}) {
    const { name = DEFAULT_CLIENT, key = name, caller, may = {} } = parts
    this.name = name
    this.key = key
    this.caller = caller
    this.#may = may
    this.#patterns = may.tools
    this.#manager = tools
  }

  /** Whether it is one of the configuration's. Others see everything, as the owner does. */
  get isNamed(): boolean {
    return this.name !== DEFAULT_CLIENT
  }

  /** Whether it searches its tools, if that is said of it. */
  get toolSearch(): boolean | undefined {
    return this.#may.toolSearch
  }

  /** The tools it may use. */
  tools(): readonly Tool[] {
    const all = this.#manager.getTools()
    return this.#patterns ? all.filter(tool => this.mayUse(tool)) : all
  }

  /** The tool of that name, if it may use it. */
  findTool(name: string): Tool | undefined {
    const tool = this.#manager.findTool(name)
    return tool && (!this.#patterns || this.mayUse(tool)) ? tool : undefined
  }

  /** Which resources or prompts it may use, all if there is no answer. A server's own are also `server__prompt`. */
  access(kind: 'resources' | 'templates' | 'prompts'): Access | undefined {
    const { tools, resources, prompts } = this.#may
    const patterns = (kind === 'prompts' ? prompts : resources) ?? (tools ? [] : undefined)
    return patterns && ((server, key) => !climbs(key) && patterns.some(each => fitsName(each, key, server)))
  }

  /** Whether it may use anything of a server. */
  seesServer(name: string): boolean {
    return !this.#patterns || this.tools().some(tool => this.#manager.originOf(tool)?.server === name)
  }

  /** For a call of the tool of that name: one that it may not use is not found. */
  runOptions(name: string): Pick<RunOptions, 'caller' | 'among'> {
    const { caller } = this
    const tool = this.#patterns && this.#manager.findTool(name)
    if (!this.#patterns || (tool && this.mayUse(tool))) return { caller }
    // For suggestions. One that goes by that name as a second one would let the other be found.
    return { caller, among: this.tools().filter(each => each.name !== name && each.lc_name !== name) }
  }

  /** Looked at once a tool: a call costs the same however many tools and patterns there are. */
  mayUse(tool: Tool): boolean {
    let isAllowed = this.#allowed.get(tool)
    if (isAllowed === undefined) {
      const server = this.#manager.originOf(tool)?.server
      isAllowed = this.#patterns?.some(pattern => fitsTool(pattern, tool, server)) ?? true
      this.#allowed.set(tool, isAllowed)
    }
    return isAllowed
  }
}

export interface ClientsOptions {
  tools: ToolManager
  /** The gateway's own token. */
  token?: string | undefined
  /** Those of the configuration; read again when it changes. */
  list(): ClientList | undefined
  /** Subjects of an OAuth issuer. */
  oauth: OAuthClients
}

interface Entry {
  client: Client
  digest: Buffer
}

/** Knows by its token who makes a request. */
export class Clients {
  readonly #options: ClientsOptions
  readonly #nobody: Client
  readonly #owner: Client
  readonly #own: Buffer | undefined
  /** Only requests of named clients are in it. */
  readonly #requests = new WeakMap<Request, Client>()
  #list: ClientList | undefined
  #named: readonly Entry[] = []

  constructor(options: ClientsOptions) {
    const { token, tools } = options
    this.#options = options
    this.#nobody = new Client(tools)
    this.#owner = new Client(tools, { caller: DEFAULT_CLIENT })
    this.#own = token === undefined ? undefined : digest(`Bearer ${token}`)
    if (token !== undefined) removeFromLogs([token])
  }

  /** Whether whoever is not named had to bring a token. */
  get hasToken(): boolean {
    return this.#own !== undefined
  }

  /** The names there are: at most these are told apart in figures. */
  names(): string[] {
    return [DEFAULT_CLIENT, ...this.#entries().map(({ client }) => client.name)]
  }

  /**
   * Remembers who makes a request, or refuses it. Without a token of the gateway's own, and without an OAuth issuer, a
   * request that brings none is the owner's; a token that nobody has is refused as soon as there are clients.
   */
  admit(request: Request): Refusal | Promise<Refusal> {
    const { oauth } = this.#options
    const entries = this.#entries()
    const given = request.headers.get('authorization')
    if (!this.#own && !oauth.isOn && (entries.length === 0 || given === null)) return undefined
    const client = this.#find(digest(withScheme(given ?? '')), entries)
    if (client?.isNamed) this.#requests.set(request, client)
    if (client) return undefined
    return oauth.isOn ? this.#admitSubject(request) : unauthorized()
  }

  async #admitSubject(request: Request): Promise<Refusal> {
    const client = await this.#options.oauth.admit(request)
    if (client instanceof Response) return client
    this.#requests.set(request, client)
    return undefined
  }

  /** The answer to a call of a tool that another scope than the caller's opens. */
  refuseCall(request: Request, tool: string): Refusal {
    const client = this.#requests.get(request)
    return client && this.#options.oauth.refuseCall(request, client, tool)
  }

  /** What clients of an OAuth issuer read before they have a token. */
  metadata(request: Request): Response | undefined {
    return this.#options.oauth.metadata(request)
  }

  /** Who makes a request that was admitted. */
  of(request: Request): Client {
    return this.#requests.get(request) ?? this.#default
  }

  /** As it is now; one that is gone may use nothing. */
  named(name = DEFAULT_CLIENT): Client {
    if (name === DEFAULT_CLIENT) return this.#default
    if (isSubject(name)) return this.#options.oauth.named(name)
    const entry = this.#entries().find(({ client }) => client.name === name)
    return entry?.client ?? new Client(this.#options.tools, { name, caller: name, may: { tools: [] } })
  }

  /**
   * Digests are of one length, and all are compared whichever fits, so that the time tells nothing of a token. Not Hono's
   * `bearerAuth`: it refuses tokens with signs such as `!`, and its two asynchronous digests make a call over HTTP 1.6
   * times as dear.
   */
  #find(given: Buffer, entries: readonly Entry[]): Client | undefined {
    let found: Client | undefined
    for (const { client, digest } of entries) if (timingSafeEqual(given, digest)) found = client
    return this.#own && timingSafeEqual(given, this.#own) ? this.#default : found
  }

  get #default(): Client {
    return this.#named.length > 0 ? this.#owner : this.#nobody
  }

  #entries(): readonly Entry[] {
    const list = this.#options.list()
    if (list === this.#list) return this.#named
    this.#list = list
    this.#named = Object.entries(list ?? {}).map(([name, { token, ...may }]) => ({
      client: new Client(this.#options.tools, { name, caller: name, may }),
      digest: digest(`Bearer ${token}`),
    }))
    removeFromLogs(Object.values(list ?? {}).map(({ token }) => token))
    return this.#named
  }
}

/** Whether a URI goes up again, however it is written: what it means is then another one than what a pattern sees. */
function climbs(uri: string): boolean {
  let plain = uri
  for (let pass = 0; pass < 3; pass++)
    plain = plain
      .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      // Dropped by those who read URLs.
      .replace(/[\u0000-\u0020\u007f]/g, '')
  return /(?:^|[/\\:])\.\.(?:[/\\?#;]|$)/.test(plain)
}

/** The name of the scheme may be written in any case. */
function withScheme(authorization: string): string {
  return authorization.replace(/^bearer +/i, 'Bearer ')
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function unauthorized(): Response {
  return failure(401, NO_TOKEN, { 'www-authenticate': 'Bearer' })
}
