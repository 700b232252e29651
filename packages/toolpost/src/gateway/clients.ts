import { createHash, timingSafeEqual } from 'node:crypto'
import { removeFromLogs } from '../logging/redact.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { Client, type ClientList, DEFAULT_CLIENT } from './client.ts'
import { tokenRequired } from './http/answers.ts'
import type { OAuthClients } from './oauth/oauth-clients.ts'
import { isSubject } from './oauth/subject.ts'

/** The response to a refused request; `undefined` if it is admitted. */
export type Refusal = Response | undefined

export interface ClientsOptions {
  tools: ToolManager
  /** The owner's token; `false` lets everybody in as the owner. */
  token: string | false
  /** The configured clients; read again when the configuration changes. */
  list(): ClientList | undefined
  /** Clients with OAuth tokens. */
  oauth: OAuthClients
}

interface Entry {
  client: Client
  digest: Buffer
}

/** Identifies the client of a request by its token. */
export class Clients {
  readonly #options: ClientsOptions
  readonly #nobody: Client
  readonly #owner: Client
  #own: Buffer | undefined
  /** Only has requests of named clients. */
  readonly #requests = new WeakMap<Request, Client>()
  #list: ClientList | undefined
  #named: readonly Entry[] = []

  constructor(options: ClientsOptions) {
    const { token, tools } = options
    this.#options = options
    this.#nobody = new Client(tools)
    this.#owner = new Client(tools, { caller: DEFAULT_CLIENT })
    if (token !== false) this.setToken(token)
  }

  /** Replaces the owner's token; the old one is no longer accepted. */
  setToken(token: string): void {
    this.#own = digest(`Bearer ${token}`)
    removeFromLogs([token])
  }

  /** The names of all clients; metrics count any other callers together. */
  names(): string[] {
    return [DEFAULT_CLIENT, ...this.#entries().map(({ client }) => client.name)]
  }

  /** Remembers who makes a request, or refuses it. */
  admit(request: Request): Refusal | Promise<Refusal> {
    const { oauth } = this.#options
    const entries = this.#entries()
    const given = request.headers.get('authorization')
    if (!this.#own) return undefined
    // The scheme is case-insensitive.
    const client = this.#find(digest((given ?? '').replace(/^bearer +/i, 'Bearer ')), entries)
    if (client?.isNamed) this.#requests.set(request, client)
    if (client) return undefined
    return oauth.isOn ? this.#admitSubject(request) : tokenRequired()
  }

  async #admitSubject(request: Request): Promise<Refusal> {
    const client = await this.#options.oauth.admit(request)
    if (client instanceof Response) return client
    this.#requests.set(request, client)
    return undefined
  }

  /** The response to a call that needs a scope the caller lacks. */
  refuseCall(request: Request, tool: string): Refusal {
    const client = this.#requests.get(request)
    return client && this.#options.oauth.refuseCall(request, client, tool)
  }

  /** What OAuth clients read before they have a token. */
  metadata(request: Request): Response | undefined {
    return this.#options.oauth.metadata(request)
  }

  /** The client of an admitted request. */
  of(request: Request): Client {
    return this.#requests.get(request) ?? this.#default
  }

  /** The client as configured now; one that was removed may use nothing. */
  named(name = DEFAULT_CLIENT): Client {
    if (name === DEFAULT_CLIENT) return this.#default
    if (isSubject(name)) return this.#options.oauth.named(name)
    const entry = this.#entries().find(({ client }) => client.name === name)
    return entry?.client ?? new Client(this.#options.tools, { name, caller: name, may: { tools: [] } })
  }

  /**
   * Digests have one length, and all of them are compared even after a match, so that timing reveals nothing about a
   * token. Not Hono's `bearerAuth`: it rejects tokens with characters such as `!`, and its two asynchronous digests make
   * a call over HTTP 1.6 times as expensive.
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

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
