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

export interface OAuthClientsOptions {
  tools: ToolManager
  /** Read at every request. */
  config(): OAuthConfig | undefined
  logger: Logger
}

/** Identifies the client of a request by its access token. */
export class OAuthClients {
  readonly #options: OAuthClientsOptions
  /** The keys of the issuer, for one configuration. */
  #keys: { config: OAuthConfig; found: Promise<JWTVerifyGetKey> } | undefined
  #failure: { error: IssuerUnavailable; until: number } | undefined
  /** The last failure logged: requests that fail for the same reason are logged once. */
  #told: unknown

  constructor(options: OAuthClientsOptions) {
    this.#options = options
  }

  /** What clients read before they have a token (RFC 9728): which issuer and scopes it needs. */
  metadata(request: Request): Response {
    const config = this.#options.config()
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
    const config = this.#options.config()
    if (!config) return failure(401, NO_TOKEN, { 'www-authenticate': 'Bearer' })
    const scopes = Object.keys(config.scopes ?? {})
    const [, token] = request.headers.get('authorization')?.match(/^bearer +(\S+)$/i) ?? []
    if (token === undefined) return challenge(request, config, scopes, NO_TOKEN)
    try {
      const claims = await checkJwt(token, (...signed) => this.#key(config, ...signed), config)
      return this.#clientOf(request, config, claims)
    } catch (error) {
      if (error instanceof IssuerUnavailable) return this.#unavailable(config, error)
      const problem = `The token was refused: ${problemOf(error)}`
      return challenge(request, config, scopes, problem, 'invalid_token')
    }
  }

  /** By its key, which is a name and the granted scopes, separated by spaces; none of them contains one. */
  named(key: string): Client {
    const [name = key] = key.split(' ')
    const config = this.#options.config()
    const scopes = config ? config.scopes : {}
    const patterns = (scope: string) => (scopes && Object.hasOwn(scopes, scope) && scopes[scope]) || []
    return new Client(this.#options.tools, {
      name,
      key,
      // All tools if no scopes are configured.
      may: { tools: scopes && scopesOf(key).flatMap(patterns) },
    })
  }

  #clientOf(request: Request, config: OAuthConfig, claims: JWTPayload): Client | Response {
    const known = Object.keys(config.scopes ?? {})
    const given = scopesIn(claims)
    const granted = known.filter(scope => given.includes(scope))
    if (config.scopes && granted.length === 0) {
      const error = `The token lacks a required scope; needed: ${known.join(' ')}`
      return challenge(request, config, known, error, 'insufficient_scope')
    }
    if (!OPEN_PATHS.test(getPath(request)))
      return failure(403, "Requires the gateway's own token; an OAuth token only gives access to the tools")
    return this.named([nameIn(claims), ...granted].join(' '))
  }

  /** The key a token was signed with. After a failure, the issuer is left alone for a moment. */
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
      const unavailable = new IssuerUnavailable(cause instanceof Error ? cause.message : message)
      this.#failure = { error: unavailable, until: Date.now() + ISSUER_RETRY_MS }
      throw unavailable
    }
  }

  readonly #fetch: FetchImplementation = async (address, { signal }) => {
    if (this.#failure && Date.now() < this.#failure.until) throw this.#failure.error
    return fetch(address, { signal, redirect: 'error' })
  }

  #unavailable({ issuer }: OAuthConfig, { message }: IssuerUnavailable): Response {
    if (message !== this.#told)
      this.#options.logger.warn({ issuer, error: safeText(message) }, 'OAuth issuer unavailable')
    this.#told = message
    return busy('The OAuth issuer is unavailable, so the token cannot be checked; try again later')
  }
}

/** The keys are unavailable, so no token can be checked. */
class IssuerUnavailable extends Error {}

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
    return createRemoteJWKSet(keysAddressIn(await response.json(), issuer), {
      timeoutDuration: ISSUER_TIMEOUT_MS,
      cooldownDuration: ISSUER_KEYS_COOL_DOWN_MS,
      [customFetch]: fetch,
    })
  }
  throw new Error('it has neither OAuth nor OpenID Connect metadata')
}

/** Metadata that names another issuer is rejected. */
function keysAddressIn(description: unknown, issuer: string): URL {
  const { issuer: named, jwks_uri: address } = isRecord(description) ? description : {}
  if (named !== issuer)
    throw new Error(`its metadata names another issuer: ${JSON.stringify(named)?.slice(0, 200)}`)
  if (typeof address !== 'string' || !URL.canParse(address)) throw new Error('its metadata has no jwks_uri')
  const url = new URL(address)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url
  throw new Error('its jwks_uri must begin with https://')
}

/** Asymmetric signatures only: the public key must not be enough to make one. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** The types of access tokens; tokens for other purposes, such as logout, have another. */
const TYPES = ['jwt', 'at+jwt', 'application/at+jwt']

/** What is wrong with a token, in our own words: nothing from it is repeated. */
class TokenProblem extends Error {}

/** The claims of a JWT access token (RFC 9068). */
async function checkJwt(token: string, keys: JWTVerifyGetKey, config: OAuthConfig): Promise<JWTPayload> {
  if (token.length > MAX_JWT_LENGTH) throw new TokenProblem('the token is too long')
  const { jwtVerify } = await import('jose')
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer: config.issuer,
    audience: config.audience,
    algorithms: ALGORITHMS,
    clockTolerance: JWT_CLOCK_TOLERANCE_S,
    requiredClaims: ['exp'],
  })
  if (!TYPES.includes((protectedHeader.typ ?? 'jwt').toLowerCase()))
    throw new TokenProblem('the token is not an access token')
  // The sender would have to prove possession of the key, which is not checked here.
  if (payload.cnf !== undefined) throw new TokenProblem('the token is bound to a key, which is not supported')
  return payload
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'the token has expired',
  iss: 'the token is from another issuer',
  aud: 'the token is for another audience',
  nbf: 'the token is not valid yet',
  exp: 'the token has no expiry',
  ERR_JOSE_ALG_NOT_ALLOWED: 'the token is not signed with a public-key algorithm',
  ERR_JWKS_NO_MATCHING_KEY: 'the token is signed with an unknown key',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'the token does not name its key',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'the token has an invalid signature',
}

function problemOf(error: unknown): string {
  const { code = '', claim = '', message } = error as { code?: string; claim?: string; message: string }
  if (error instanceof TokenProblem) return message
  return PROBLEMS[code] ?? PROBLEMS[claim] ?? 'the token is not a valid access token'
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
function nameIn({ sub, client_id: client }: JWTPayload): string {
  if (typeof sub === 'string' && sub !== '') return `${SUBJECT}${readable(sub)}`
  if (typeof client === 'string' && client !== '') return `${CLIENT}${readable(client)}`
  throw new TokenProblem('the token has no subject')
}

/** Unchanged if short and printable, else hashed; always unique. */
function readable(id: string): string {
  if (/^[\x21-\x7e]{1,128}$/.test(id) && !id.startsWith(HASHED)) return id
  return `${HASHED}${createHash('sha256').update(id).digest('hex')}`
}

function scopesOf(key: string): string[] {
  return key.split(' ').slice(1)
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

const NO_TOKEN = 'The token is missing or wrong: send it as Authorization: Bearer <token>'

/** `code` is one of RFC 6750; left out if no token was sent. */
function challenge(
  request: Request,
  config: OAuthConfig,
  scopes: readonly string[],
  error: string,
  code?: 'invalid_token' | 'insufficient_scope',
): Response {
  const host = hostOf(request)
  // With the scheme of the public address if TLS ends in front of the gateway.
  const isPublic = (address = '') => isAddress(address) && new URL(address).host === host
  const known = [config.resource, config.audience].find(isPublic)
  const origin = known === undefined ? `http://${host}` : new URL(known).origin
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
