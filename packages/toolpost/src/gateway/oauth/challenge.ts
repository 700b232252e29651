import type { OAuthConfig } from '../../project/config.ts'
import { failure, json, NO_TOKEN } from '../http/answers.ts'
import { hostOf } from '../http/guard.ts'

/** RFC 9728: the metadata of a protected resource; its path is appended. */
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const RESOURCE_PATH = '/mcp'

export const METADATA_PATHS = [WELL_KNOWN, `${WELL_KNOWN}${RESOURCE_PATH}`]

/** What a client reads before it has a token: which issuer and scopes it needs. */
export function resourceMetadata(
  request: Request,
  { issuer, audience, resource, scopes }: OAuthConfig,
): Response {
  return json({
    resource: resource ?? (isAddress(audience) ? audience : `${originOf(request)}${RESOURCE_PATH}`),
    authorization_servers: [issuer],
    ...(scopes && { scopes_supported: Object.keys(scopes) }),
    bearer_methods_supported: ['header'],
    resource_name: 'Toolpost',
  })
}

/** 401: no token, or one with a `problem`. */
export function unauthorized(request: Request, config: OAuthConfig, problem?: string): Response {
  const scopes = Object.keys(config.scopes ?? {})
  if (problem === undefined) return refusal(request, config, { status: 401, error: NO_TOKEN, scopes })
  const error = `The token was refused: ${problem}`
  return refusal(request, config, { status: 401, error, scopes, code: 'invalid_token' })
}

/** 403: a token with these scopes would be accepted. */
export function insufficientScope(
  request: Request,
  config: OAuthConfig,
  scopes: readonly string[],
): Response {
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
