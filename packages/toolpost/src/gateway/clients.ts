import { createHash, timingSafeEqual } from 'node:crypto'
import { removeFromLogs } from '../logging/safe-value.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { Client, type ClientList, DEFAULT_CLIENT } from './client.ts'
import { failure, NO_TOKEN } from './http/answers.ts'
import type { OAuthClients } from './oauth/oauth-clients.ts'
import { isSubject } from './oauth/subject.ts'

/** The answer that turns a request away, if it is. */
export type Refusal = Response | undefined

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
