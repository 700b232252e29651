import { getPath } from 'hono/utils/url'
import type { JWTPayload } from 'jose'
import type { OAuthConfig } from '../../project/config.ts'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { Client } from '../client.ts'
import { busy, failure, tokenRequired } from '../http/answers.ts'
import { REMEMBERED_SUBJECTS } from '../limits.ts'
import { insufficientScope, resourceMetadata, unauthorized } from './challenge.ts'
import { checkJwt } from './check-jwt.ts'
import { Issuer, IssuerUnavailable } from './issuer.ts'
import { isSubject, nameIn, scopesIn } from './subject.ts'

/** Everything an OAuth token gives access to. The rest of the gateway, and any future route, is for its owner. */
const OPEN_PATHS = /^\/(mcp|api\/tools(\/[^/]+\/call)?|api\/results\/[^/]+|api\/openapi\.json|healthz)$/

export interface OAuthClientsOptions {
  tools: ToolManager
  /** Read at every request. */
  config(): OAuthConfig | undefined
  logger: Logger
}

/** Belongs to one configuration: another one means other keys and scopes. */
interface Trust {
  config: OAuthConfig
  issuer: Issuer
  /** By key, oldest first. Kept, because each client caches which tools it may use. */
  clients: Map<string, Client>
}

/** Identifies the client of a request by its access token: the gateway as an OAuth resource server. */
export class OAuthClients {
  readonly #options: OAuthClientsOptions
  #trust: Trust | undefined
  /** The last failure logged: requests that fail for the same reason are logged once. */
  #told: unknown

  constructor(options: OAuthClientsOptions) {
    this.#options = options
  }

  get isOn(): boolean {
    return this.#options.config() !== undefined
  }

  /** What clients read before they have a token; `undefined` without an issuer. */
  metadata(request: Request): Response | undefined {
    const config = this.#options.config()
    return config && resourceMetadata(request, config)
  }

  /** The client of a request, or the response that refuses it. */
  async admit(request: Request): Promise<Client | Response> {
    const trust = this.#current()
    if (!trust) return tokenRequired()
    const { config, issuer } = trust
    const [, token] = request.headers.get('authorization')?.match(/^bearer +(\S+)$/i) ?? []
    if (token === undefined) return unauthorized(request, config)
    try {
      const checked = await checkJwt(token, issuer, config)
      return 'problem' in checked
        ? unauthorized(request, config, checked.problem)
        : this.#welcome(request, config, checked.claims)
    } catch (error) {
      if (error instanceof IssuerUnavailable) return this.#unavailable(config, error)
      throw error
    }
  }

  /** The response to a call that a token with another scope could make. A tool that no scope covers is simply unknown. */
  refuseCall(request: Request, client: Client, name: string): Response | undefined {
    const config = isSubject(client.key) ? this.#current()?.config : undefined
    const { tools } = this.#options
    const tool = config?.scopes && tools.findTool(name)
    if (!config?.scopes || !tool || client.mayUse(tool)) return undefined
    const server = tools.originOf(tool)?.server
    const opening = Object.entries(config.scopes).find(([, patterns]) =>
      patterns.some(pattern => fitsTool(pattern, tool, server)),
    )
    return opening && insufficientScope(request, config, [...scopesOf(client.key), opening[0]])
  }

  /** By its key, with what its scopes allow now; no tools without an issuer. */
  named(key: string): Client {
    const trust = this.#current()
    const client = trust?.clients.get(key) ?? this.#make(key, trust ? patternsOf(key, trust.config) : [])
    if (trust) remember(client, trust.clients)
    return client
  }

  #make(key: string, patterns: readonly string[] | undefined): Client {
    const [name = key] = key.split(' ')
    return new Client(this.#options.tools, { name, key, caller: name, may: { tools: patterns } })
  }

  #welcome(request: Request, config: OAuthConfig, claims: JWTPayload): Client | Response {
    const name = nameIn(claims)
    if (name === undefined) return unauthorized(request, config, 'the token has no subject')
    const known = Object.keys(config.scopes ?? {})
    const given = scopesIn(claims)
    const granted = known.filter(scope => given.includes(scope))
    if (config.scopes && granted.length === 0) return insufficientScope(request, config, known)
    if (!OPEN_PATHS.test(getPath(request)))
      return failure(403, "Requires the gateway's own token; an OAuth token only gives access to the tools")
    return this.named([name, ...granted].join(' '))
  }

  #unavailable({ issuer }: OAuthConfig, { message, cause }: IssuerUnavailable): Response {
    if (cause !== this.#told)
      this.#options.logger.warn({ issuer, error: safeText(message) }, 'OAuth issuer unavailable')
    this.#told = cause
    return busy('The OAuth issuer is unavailable, so the token cannot be checked; try again later')
  }

  #current(): Trust | undefined {
    const config = this.#options.config()
    if (config !== this.#trust?.config)
      this.#trust = config && { config, issuer: new Issuer(config.issuer), clients: new Map() }
    return this.#trust
  }
}

function remember(client: Client, clients: Map<string, Client>): void {
  if (clients.has(client.key)) return
  const [oldest] = clients.keys()
  if (oldest !== undefined && clients.size >= REMEMBERED_SUBJECTS) clients.delete(oldest)
  clients.set(client.key, client)
}

/** A key is a name and the granted scopes, separated by spaces; none of them contains one. */
function scopesOf(key: string): string[] {
  return key.split(' ').slice(1)
}

/** All tools if no scopes are configured. */
function patternsOf(key: string, { scopes }: OAuthConfig): readonly string[] | undefined {
  return scopes && scopesOf(key).flatMap(scope => (Object.hasOwn(scopes, scope) && scopes[scope]) || [])
}
