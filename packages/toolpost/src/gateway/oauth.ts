import type { HTTPException } from 'hono/http-exception'
import { getPath } from 'hono/utils/url'
import type { JWTVerifyGetKey } from 'jose'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { OAuthConfig } from '../project/config.ts'
import { isRecord, ownValue } from '../util/guards.ts'
import { isLoopback } from '../util/text.ts'
import { Client, hostOf } from './clients.ts'
import type { GatewaySource } from './context.ts'
import { type Bindings, busy, headerIn, json, type RequestContext, refusal } from './http.ts'
import { ISSUER_TIMEOUT_MS, JWT_CLOCK_TOLERANCE_S, MAX_JWT_LENGTH } from './limits.ts'

/* The gateway as an OAuth resource server: access tokens of an external issuer open the tools. */

/** Everything an OAuth token gives access to. The rest of the gateway, and any future route, is for its owner. */
const OPEN_PATHS = /^\/(mcp|api\/tools(\/[^/]+\/call)?|api\/results\/[^/]+|api\/openapi\.json|healthz)$/

/** RFC 9728: the metadata of a protected resource; its path is appended. */
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const RESOURCE_PATH = '/mcp'
export const METADATA_PATHS = [WELL_KNOWN, `${WELL_KNOWN}${RESOURCE_PATH}`]

const NO_TOKEN = 'The token is missing or wrong: send it as Authorization: Bearer <token>'

/** Asymmetric signatures only: the public key must not be enough to make one. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')
/** The types of access tokens; tokens for other purposes, such as logout, have another. */
const TYPES = ['jwt', 'at+jwt', 'application/at+jwt']

/** The keys are unavailable, so no token can be checked. */
class IssuerUnavailable extends Error {
  override message = 'The OAuth issuer is unavailable, so the token cannot be checked; try again later'
}

export type OAuthClients = ReturnType<typeof createOAuthClients>

/** Identifies the client of a request by its access token; the configuration is read at every request. */
export function createOAuthClients(source: GatewaySource, logger: Logger) {
  const config = () => source.config?.gateway?.oauth
  /** The keys of the issuer, for one configuration. */
  let keys: { of: OAuthConfig; found: Promise<JWTVerifyGetKey> } | undefined

  /** The key a token was signed with. */
  async function keyOf(oauth: OAuthConfig, ...signed: Parameters<JWTVerifyGetKey>) {
    if (keys?.of !== oauth) keys = { of: oauth, found: findKeys(oauth.issuer) }
    const { found } = keys
    found.catch(() => {
      keys = undefined
    })
    try {
      return await (await found)(...signed)
    } catch (error) {
      const { code = '', message } = error as Error & { code?: string }
      if (/^ERR_JWKS_(NO|MULTIPLE)_MATCHING/.test(code)) throw error
      logger.warn({ issuer: oauth.issuer, error: safeText(message) }, 'OAuth issuer unavailable')
      throw new IssuerUnavailable()
    }
  }

  /** Whose JWT access token it is (RFC 9068), and its scopes. The errors of jose repeat nothing of the token. */
  async function claimsOf(token: string, oauth: OAuthConfig) {
    if (token.length > MAX_JWT_LENGTH) throw new Error('it is too long')
    const { jwtVerify } = await import('jose')
    const { issuer, audience } = oauth
    const checks = { issuer, audience, algorithms: ALGORITHMS, requiredClaims: ['exp'] }
    const { payload, protectedHeader } = await jwtVerify(token, (...signed) => keyOf(oauth, ...signed), {
      ...checks,
      clockTolerance: JWT_CLOCK_TOLERANCE_S,
    })
    if (!TYPES.includes((protectedHeader.typ ?? 'jwt').toLowerCase()))
      throw new Error('it is not an access token')
    // The sender would have to prove possession of the key, which is not checked here.
    if (payload.cnf !== undefined) throw new Error('it is bound to a key, which is not supported')
    const { sub, client_id: client, scope, scp } = payload
    const [kind, id] = sub ? ['oauth', sub] : ['oauth-client', client]
    if (typeof id !== 'string' || !/^[!-~]{1,128}$/.test(id)) throw new Error('it has no subject')
    return { name: `${kind}:${id}`, scope, scp }
  }

  /** A subject with the scopes of its token. */
  function clientOf(name: string, granted: readonly string[]): Client {
    const rights = () => {
      const oauth = config()
      const scopes = oauth ? oauth.scopes : {}
      // All tools if no scopes are configured.
      return { tools: scopes && granted.flatMap(scope => ownValue(scopes, scope) ?? []) }
    }
    return new Client(source.executor.tools, name, rights, { key: [name, ...granted].join(' ') })
  }

  return {
    /** What clients read before they have a token (RFC 9728): which issuer and scopes it needs. */
    metadata(c: RequestContext): Response {
      const oauth = config()
      if (!oauth) throw refusal(404, 'No OAuth issuer is configured')
      return json({
        resource: resourceOf(c.req.raw, c.env, oauth),
        authorization_servers: [oauth.issuer],
        ...(oauth.scopes && { scopes_supported: Object.keys(oauth.scopes) }),
        bearer_methods_supported: ['header'],
        resource_name: 'Toolpost',
      })
    },

    /** The client of a request. Throws a refusal. */
    async admit(request: Request, env: Bindings): Promise<Client> {
      const oauth = config()
      if (!oauth) throw refusal(401, NO_TOKEN, { 'www-authenticate': 'Bearer' })
      const [, token] = headerIn(request, env, 'authorization')?.match(/^bearer +(\S+)$/i) ?? []
      if (token === undefined) throw challenge(resourceOf(request, env, oauth), oauth, NO_TOKEN)
      const claims = await claimsOf(token, oauth).catch(error => {
        if (error instanceof IssuerUnavailable) throw busy(error.message)
        const problem = `The token was refused: ${error.message.replaceAll('"', "'")}`
        throw challenge(resourceOf(request, env, oauth), oauth, problem, 'invalid_token')
      })
      // Some issuers call them `scp` or use a list.
      const given = [claims.scope ?? claims.scp].flat().flatMap(each => String(each).split(' '))
      const known = Object.keys(oauth.scopes ?? {})
      const granted = known.filter(each => given.includes(each))
      const lacking = `The token lacks a required scope; needed: ${known.join(' ')}`
      if (oauth.scopes && granted.length === 0)
        throw challenge(resourceOf(request, env, oauth), oauth, lacking, 'insufficient_scope')
      if (OPEN_PATHS.test(getPath(request))) return clientOf(claims.name, granted)
      throw refusal(403, "Requires the gateway's own token; an OAuth token only gives access to the tools")
    },
  }
}

/** The keys of an authorization server, found through its metadata (RFC 8414 or OpenID Connect Discovery). */
async function findKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet } = await import('jose')
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const own = `${origin}/.well-known/oauth-authorization-server${path}`
  for (const address of [own, `${origin}${path}/.well-known/openid-configuration`]) {
    const signal = AbortSignal.timeout(ISSUER_TIMEOUT_MS)
    const response = await fetch(address, { signal, redirect: 'error' })
    if (response.status >= 500) throw new Error(`${address} answered ${response.status}`)
    if (response.status !== 200) continue
    const metadata: unknown = await response.json()
    const { issuer: named, jwks_uri: keys } = isRecord(metadata) ? metadata : {}
    if (named !== issuer) throw new Error(`its metadata names another issuer: ${safeText(String(named))}`)
    const { protocol, hostname, href } = new URL(String(keys))
    if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname)))
      throw new Error('its jwks_uri must begin with https://')
    return createRemoteJWKSet(new URL(href), { cooldownDuration: 10_000 })
  }
  throw new Error('it has neither OAuth nor OpenID Connect metadata')
}

/** The public address of `/mcp`. */
function resourceOf(request: Request, env: Bindings, { resource, audience }: OAuthConfig): string {
  const isAddress = /^https?:\/\//i.test(audience) && URL.canParse(audience)
  return resource ?? (isAddress ? audience : `http://${hostOf(request, env)}${RESOURCE_PATH}`)
}

/** `code` is one of RFC 6750; left out if no token was sent. */
function challenge(resource: string, oauth: OAuthConfig, error: string, code?: string): HTTPException {
  const scopes = Object.keys(oauth.scopes ?? {})
  const parts = {
    ...(code && { error: code, error_description: error }),
    resource_metadata: new URL(`${WELL_KNOWN}${RESOURCE_PATH}`, resource),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
  const said = Object.entries(parts).map(([key, value]) => `${key}="${value}"`)
  const status = code === 'insufficient_scope' ? 403 : 401
  return refusal(status, error, { 'www-authenticate': `Bearer ${said.join(', ')}` })
}
