import { createHash } from 'node:crypto'
import { getPath } from 'hono/utils/url'
import type { FetchImplementation, JWTPayload, JWTVerifyGetKey } from 'jose'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { OAuthConfig } from '../project/config.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { isRecord } from '../util/guards.ts'
import { isLoopback } from '../util/text.ts'
import { Client, hostOf } from './clients.ts'
import { busy, failure, json } from './http.ts'
import {
  ISSUER_KEYS_COOL_DOWN_MS,
  ISSUER_RETRY_MS,
  ISSUER_TIMEOUT_MS,
  JWT_CLOCK_TOLERANCE_S,
  MAX_JWT_LENGTH,
} from './limits.ts'

/* The gateway as an OAuth resource server: access tokens of an external issuer open the tools. */

/** Everything an OAuth token gives access to. The rest of the gateway, and any future route, is for its owner. */
const OPEN_PATHS = /^\/(mcp|api\/tools(\/[^/]+\/call)?|api\/results\/[^/]+|api\/openapi\.json|healthz)$/

/** RFC 9728: the metadata of a protected resource; its path is appended. */
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const RESOURCE_PATH = '/mcp'
export const METADATA_PATHS = [WELL_KNOWN, `${WELL_KNOWN}${RESOURCE_PATH}`]

const NO_TOKEN = 'The token is missing or wrong: send it as Authorization: Bearer <token>'

/** Asymmetric signatures only: the public key must not be enough to make one. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
/** The types of access tokens; tokens for other purposes, such as logout, have another. */
const TYPES = ['jwt', 'at+jwt', 'application/at+jwt']

/** What configured clients cannot have in their name, because of the colon. */
const SUBJECT = /^oauth(-client)?:/

/** Whether a caller's name or key belongs to someone with an OAuth token. */
export function isSubject(name: string): boolean {
  return SUBJECT.test(name)
}

/** The keys are unavailable, so no token can be checked. */
class IssuerUnavailable extends Error {}

/** Identifies the client of a request by its access token. */
export class OAuthClients {
  readonly #tools: ToolManager
  /** Read at every request. */
  readonly #config: () => OAuthConfig | undefined
  readonly #logger: Logger
  /** The keys of the issuer, for one configuration. */
  #keys: { config: OAuthConfig; found: Promise<JWTVerifyGetKey> } | undefined
  #failedAt = 0

  constructor(tools: ToolManager, config: () => OAuthConfig | undefined, logger: Logger) {
    this.#tools = tools
    this.#config = config
    this.#logger = logger
  }

  /** What clients read before they have a token (RFC 9728): which issuer and scopes it needs. */
  metadata(request: Request): Response {
    const config = this.#config()
    if (!config) return failure(404, 'No OAuth issuer is configured')
    const { issuer, audience, resource, scopes } = config
    return json({
      resource: resource ?? (isAddress(audience) ? audience : `http://${hostOf(request)}${RESOURCE_PATH}`),
      authorization_servers: [issuer],
      ...(scopes && { scopes_supported: Object.keys(scopes) }),
      bearer_methods_supported: ['header'],
      resource_name: 'Toolpost',
    })
  }

  /** The client of a request, or the response that refuses it. */
  async admit(request: Request): Promise<Client | Response> {
    const config = this.#config()
    if (!config) return failure(401, NO_TOKEN, { 'www-authenticate': 'Bearer' })
    const [, token] = request.headers.get('authorization')?.match(/^bearer +(\S+)$/i) ?? []
    if (token === undefined) return challenge(request, config, NO_TOKEN)
    try {
      const claims = await this.#claimsOf(token, config)
      const known = Object.keys(config.scopes ?? {})
      const granted = known.filter(scope => scopesIn(claims).includes(scope))
      if (config.scopes && granted.length === 0) {
        const error = `The token lacks a required scope; needed: ${known.join(' ')}`
        return challenge(request, config, error, 'insufficient_scope')
      }
      if (!OPEN_PATHS.test(getPath(request)))
        return failure(403, "Requires the gateway's own token; an OAuth token only gives access to the tools")
      return this.named([nameIn(claims), ...granted].join(' '))
    } catch (error) {
      const { message } = error as Error
      if (error instanceof IssuerUnavailable)
        return busy('The OAuth issuer is unavailable, so the token cannot be checked; try again later')
      const problem = `The token was refused: ${message.replaceAll('"', "'")}`
      return challenge(request, config, problem, 'invalid_token')
    }
  }

  /** By its key, which is a name and the granted scopes, separated by spaces; none of them contains one. */
  named(key: string): Client {
    const [name = key, ...granted] = key.split(' ')
    const config = this.#config()
    const scopes = config ? config.scopes : {}
    // All tools if no scopes are configured.
    const tools = scopes && granted.flatMap(scope => (Object.hasOwn(scopes, scope) && scopes[scope]) || [])
    return new Client(this.#tools, name, { tools }, { key })
  }

  /** The claims of a JWT access token (RFC 9068). The errors of jose repeat nothing of the token. */
  async #claimsOf(token: string, config: OAuthConfig): Promise<JWTPayload> {
    if (token.length > MAX_JWT_LENGTH) throw new Error('it is too long')
    const { jwtVerify } = await import('jose')
    const { payload, protectedHeader } = await jwtVerify(token, (...signed) => this.#key(config, ...signed), {
      issuer: config.issuer,
      audience: config.audience,
      algorithms: ALGORITHMS,
      clockTolerance: JWT_CLOCK_TOLERANCE_S,
      requiredClaims: ['exp'],
    })
    if (!TYPES.includes((protectedHeader.typ ?? 'jwt').toLowerCase()))
      throw new Error('it is not an access token')
    // The sender would have to prove possession of the key, which is not checked here.
    if (payload.cnf !== undefined) throw new Error('it is bound to a key, which is not supported')
    return payload
  }

  /** The key a token was signed with. */
  async #key(config: OAuthConfig, ...signed: Parameters<JWTVerifyGetKey>) {
    if (this.#keys?.config !== config) this.#keys = { config, found: findKeys(config.issuer, this.#fetch) }
    const { found } = this.#keys
    found.catch(() => {
      this.#keys = undefined
    })
    try {
      return await (await found)(...signed)
    } catch (error) {
      const { code = '', cause, message } = error as Error & { code?: string }
      if (error instanceof IssuerUnavailable || /^ERR_JWKS_(NO|MULTIPLE)_MATCHING/.test(code)) throw error
      const problem = new IssuerUnavailable(cause instanceof Error ? cause.message : message)
      if (Date.now() >= this.#failedAt + ISSUER_RETRY_MS)
        this.#logger.warn(
          { issuer: config.issuer, error: safeText(problem.message) },
          'OAuth issuer unavailable',
        )
      this.#failedAt = Date.now()
      throw problem
    }
  }

  /** After a failure, the issuer is left alone for a moment. */
  readonly #fetch: FetchImplementation = async (address, { signal }) => {
    if (Date.now() < this.#failedAt + ISSUER_RETRY_MS) throw new IssuerUnavailable('it failed a moment ago')
    return fetch(address, { signal, redirect: 'error' })
  }
}

/** The keys of an authorization server, found through its metadata (RFC 8414, OpenID Connect Discovery). */
async function findKeys(issuer: string, fetch: FetchImplementation): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, customFetch } = await import('jose')
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const addresses = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  for (const address of addresses) {
    const signal = AbortSignal.timeout(ISSUER_TIMEOUT_MS)
    const response = await fetch(address, {
      signal,
      method: 'GET',
      redirect: 'manual',
      headers: new Headers(),
    })
    if (response.status >= 500) throw new Error(`${address} answered ${response.status}`)
    if (response.status !== 200) continue
    const metadata: unknown = await response.json()
    const { issuer: named, jwks_uri: keys } = isRecord(metadata) ? metadata : {}
    if (named !== issuer) throw new Error(`its metadata names another issuer: ${safeText(String(named))}`)
    if (typeof keys !== 'string' || !URL.canParse(keys)) throw new Error('its metadata has no jwks_uri')
    const url = new URL(keys)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
      throw new Error('its jwks_uri must begin with https://')
    const limits = { timeoutDuration: ISSUER_TIMEOUT_MS, cooldownDuration: ISSUER_KEYS_COOL_DOWN_MS }
    return createRemoteJWKSet(url, { ...limits, [customFetch]: fetch })
  }
  throw new Error('it has neither OAuth nor OpenID Connect metadata')
}

/** The name of a token's holder: its subject, or without one the client it was issued to. Hashed unless short and printable. */
function nameIn({ sub, client_id: client }: JWTPayload): string {
  const [kind, id] = sub ? ['oauth', sub] : ['oauth-client', client]
  if (typeof id !== 'string' || id === '') throw new Error('it has no subject')
  const isReadable = /^(?!sha256:)[\x21-\x7e]{1,128}$/.test(id)
  return `${kind}:${isReadable ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`}`
}

/** The scopes of a token; some issuers call them `scp` or use a list. */
function scopesIn({ scope, scp }: JWTPayload): unknown[] {
  const given = scope ?? scp
  return Array.isArray(given) ? given : typeof given === 'string' ? given.split(' ') : []
}

/** `code` is one of RFC 6750; left out if no token was sent. */
function challenge(request: Request, config: OAuthConfig, error: string, code?: string): Response {
  const host = hostOf(request)
  // With the scheme of the public address if TLS ends in front of the gateway.
  const isPublic = (address = '') => isAddress(address) && new URL(address).host === host
  const known = [config.resource, config.audience].find(isPublic)
  const origin = known === undefined ? `http://${host}` : new URL(known).origin
  const scopes = Object.keys(config.scopes ?? {})
  const parts = {
    ...(code && { error: code, error_description: error }),
    resource_metadata: `${origin}${WELL_KNOWN}${RESOURCE_PATH}`,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
  const said = Object.entries(parts).map(([key, value]) => `${key}="${value}"`)
  const status = code === 'insufficient_scope' ? 403 : 401
  return failure(status, error, { 'www-authenticate': `Bearer ${said.join(', ')}` })
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}
