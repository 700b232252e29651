import { createHash } from 'node:crypto'
import { getPath } from 'hono/utils/url'
import type { JWTPayload } from 'jose'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import type { OAuthConfig } from '../../project/config.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { fitsTool } from '../../tools/tool-pattern.ts'
import { Client, hostOf } from '../clients.ts'
import { busy, failure, json, NO_TOKEN } from '../http.ts'
import { REMEMBERED_CLIENTS } from '../limits.ts'
import { checkJwt, Issuer, IssuerUnavailable } from './issuer.ts'

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
    if (!trust) return failure(401, NO_TOKEN, { 'www-authenticate': 'Bearer' })
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
    const config = this.#current()?.config
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
  if (oldest !== undefined && clients.size >= REMEMBERED_CLIENTS) clients.delete(oldest)
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

/** Configured clients cannot have a colon in their name. */
const SUBJECT = 'oauth:'
const CLIENT = 'oauth-client:'
const HASHED = 'sha256:'

/** Whether a caller's name or key belongs to someone with an OAuth token. */
export function isSubject(name: string): boolean {
  return name.startsWith(SUBJECT) || name.startsWith(CLIENT)
}

/** The name of a token's holder: its subject, or without one the client it was issued to. */
function nameIn({ sub, client_id: client }: JWTPayload): string | undefined {
  if (typeof sub === 'string' && sub !== '') return `${SUBJECT}${readable(sub)}`
  return typeof client === 'string' && client !== '' ? `${CLIENT}${readable(client)}` : undefined
}

/** Unchanged if short and printable, else hashed; always unique. */
function readable(id: string): string {
  if (/^[\x21-\x7e]{1,128}$/.test(id) && !id.startsWith(HASHED)) return id
  return `${HASHED}${createHash('sha256').update(id).digest('hex')}`
}

/** The scopes of a token; some issuers call them `scp` or use a list. */
function scopesIn({ scope, scp }: JWTPayload): string[] {
  const given = scope ?? scp
  if (Array.isArray(given)) return given.filter(each => typeof each === 'string')
  return typeof given === 'string' ? given.split(' ') : []
}

/** RFC 9728: the metadata of a protected resource; its path is appended. */
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const RESOURCE_PATH = '/mcp'

export const METADATA_PATHS = [WELL_KNOWN, `${WELL_KNOWN}${RESOURCE_PATH}`]

/** What a client reads before it has a token: which issuer and scopes it needs. */
function resourceMetadata(request: Request, { issuer, audience, resource, scopes }: OAuthConfig): Response {
  return json({
    resource: resource ?? (isAddress(audience) ? audience : `${originOf(request)}${RESOURCE_PATH}`),
    authorization_servers: [issuer],
    ...(scopes && { scopes_supported: Object.keys(scopes) }),
    bearer_methods_supported: ['header'],
    resource_name: 'Toolpost',
  })
}

/** 401: no token, or one with a `problem`. */
function unauthorized(request: Request, config: OAuthConfig, problem?: string): Response {
  const scopes = Object.keys(config.scopes ?? {})
  if (problem === undefined) return refusal(request, config, { status: 401, error: NO_TOKEN, scopes })
  const error = `The token was refused: ${problem}`
  return refusal(request, config, { status: 401, error, scopes, code: 'invalid_token' })
}

/** 403: a token with these scopes would be accepted. */
function insufficientScope(request: Request, config: OAuthConfig, scopes: readonly string[]): Response {
  const error = `The token lacks a required scope; needed: ${scopes.join(' ')}`
  return refusal(request, config, { status: 403, error, scopes, code: 'insufficient_scope' })
}

interface Challenge {
  status: 401 | 403
  error: string
  scopes: readonly string[]
  /** An RFC 6750 code; left out if no token was sent. */
  code?: 'invalid_token' | 'insufficient_scope'
}

function refusal(
  request: Request,
  config: OAuthConfig,
  { status, error, scopes, code }: Challenge,
): Response {
  const parts = {
    ...(code && { error: code, error_description: error }),
    resource_metadata: metadataAddress(request, config),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
  const challenge = Object.entries(parts).map(([key, value]) => `${key}="${value}"`)
  return failure(status, error, { 'www-authenticate': `Bearer ${challenge.join(', ')}` })
}

/** At the host that was requested, with the scheme of the public address if TLS ends in front of the gateway. */
function metadataAddress(request: Request, { resource, audience }: OAuthConfig): string {
  const known = [resource, audience].find(
    address => address !== undefined && isAddress(address) && new URL(address).host === hostOf(request),
  )
  const origin = known === undefined ? originOf(request) : new URL(known).origin
  return `${origin}${WELL_KNOWN}${RESOURCE_PATH}`
}

/** The guard has checked the host. */
function originOf(request: Request): string {
  return `http://${hostOf(request)}`
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}
