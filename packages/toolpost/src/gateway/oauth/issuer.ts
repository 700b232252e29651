import type {
  CryptoKey,
  FlattenedJWSInput,
  JWSHeaderParameters,
  JWTPayload,
  JWTVerifyOptions,
  JWTVerifyResult,
  RemoteJWKSet,
} from 'jose'
import { limitedBytes } from '../../mcp/oauth/oauth-fetch.ts'
import { isRecord } from '../../runtime/guards.ts'
import { isLoopback } from '../../runtime/loopback.ts'
import {
  ISSUER_KEYS_AGE_MS,
  ISSUER_KEYS_COOL_DOWN_MS,
  ISSUER_RETRY_MS,
  ISSUER_TIMEOUT_MS,
  JWT_CLOCK_TOLERANCE_S,
  MAX_ISSUER_BYTES,
  MAX_JWT_LENGTH,
  MAX_KEYS_TRIED,
} from '../limits.ts'

/** The keys are unavailable, so no token can be checked. */
export class IssuerUnavailable extends Error {
  override name = 'IssuerUnavailable'
}

/** Errors about a token, not about the issuer. */
const TOKEN_PROBLEMS = [
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
  'ERR_JOSE_NOT_SUPPORTED',
]

/**
 * The keys of an authorization server, found through its metadata (RFC 8414, OpenID Connect Discovery). They are fetched
 * again when they are old or one is missing; requests are limited while the issuer fails and however many tokens name
 * unknown keys.
 */
export class Issuer {
  readonly #address: string
  #keys: RemoteJWKSet | undefined
  #pending: Promise<RemoteJWKSet> | undefined
  #failure: Error | undefined
  #retryAt = 0

  constructor(address: string) {
    this.#address = address
  }

  /** The key a token was signed with. Rejects with an IssuerUnavailable, or with jose's error about the token. */
  async key(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    try {
      const keys = await this.#current()
      return await keys(header, token)
    } catch (error) {
      if (TOKEN_PROBLEMS.includes((error as { code?: string }).code ?? '')) throw error
      throw this.#failed(error as Error)
    }
  }

  #failed(error: Error): IssuerUnavailable {
    if (error !== this.#failure) {
      this.#failure = error
      this.#retryAt = Date.now() + ISSUER_RETRY_MS
    }
    const reason = error.cause instanceof Error ? error.cause.message : error.message
    return new IssuerUnavailable(reason, { cause: error })
  }

  #current(): RemoteJWKSet | Promise<RemoteJWKSet> {
    if (this.#keys?.fresh) return this.#keys
    this.#pending ??= this.#load().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #load(): Promise<RemoteJWKSet> {
    const { createRemoteJWKSet, customFetch } = await import('jose')
    const keys = createRemoteJWKSet(await this.#keysAddress(), {
      timeoutDuration: ISSUER_TIMEOUT_MS,
      cooldownDuration: ISSUER_KEYS_COOL_DOWN_MS,
      cacheMaxAge: ISSUER_KEYS_AGE_MS,
      [customFetch]: (url: string, { signal }: { signal: AbortSignal }) => this.#fetch(url, signal),
    })
    await keys.reload()
    this.#keys = keys
    return keys
  }

  async #keysAddress(): Promise<URL> {
    for (const address of descriptionsOf(this.#address)) {
      const response = await this.#fetch(address, AbortSignal.timeout(ISSUER_TIMEOUT_MS))
      if (response.status === 200) return keysAddressIn(await response.json(), this.#address)
      if (response.status >= 500) throw new Error(`${address} answered ${response.status}`)
    }
    throw new Error('it has neither OAuth nor OpenID Connect metadata')
  }

  async #fetch(address: string, signal: AbortSignal): Promise<Response> {
    if (this.#failure && Date.now() < this.#retryAt) throw this.#failure
    const response = await fetch(address, {
      signal,
      redirect: 'error',
      headers: { accept: 'application/json' },
    })
    const bytes = await limitedBytes(response, MAX_ISSUER_BYTES)
    if (!bytes) throw new Error(`its response is larger than ${MAX_ISSUER_BYTES} bytes`)
    return new Response(bytes, { status: response.status })
  }
}

/** Where an issuer may have its metadata. The well-known part goes before its path; in OpenID Connect, after it. */
function descriptionsOf(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const addresses = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  return [...new Set(addresses)]
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

export interface ExpectedToken {
  issuer: string
  audience: string
}

/** The claims of a token, or what is wrong with it. */
export type CheckedToken = { claims: JWTPayload } | { problem: string }

/** Checks a JWT access token (RFC 9068). Rejects only with an IssuerUnavailable. */
export async function checkJwt(token: string, keys: Issuer, expected: ExpectedToken): Promise<CheckedToken> {
  if (token.length > MAX_JWT_LENGTH) return { problem: 'the token is too long' }
  try {
    const { payload, protectedHeader } = await verify(token, keys, {
      issuer: expected.issuer,
      audience: expected.audience,
      algorithms: ALGORITHMS,
      clockTolerance: JWT_CLOCK_TOLERANCE_S,
      requiredClaims: ['exp'],
    })
    if (!TYPES.includes((protectedHeader.typ ?? 'jwt').toLowerCase()))
      return { problem: 'the token is not an access token' }
    // The sender would have to prove possession of the key, which is not checked here.
    if (payload.cnf !== undefined) return { problem: 'the token is bound to a key, which is not supported' }
    return { claims: payload }
  } catch (error) {
    if (error instanceof IssuerUnavailable) throw error
    return { problem: problemOf(error) }
  }
}

/** Tries every possible key for a token that does not name one. */
async function verify(token: string, keys: Issuer, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  const { jwtVerify, errors } = await import('jose')
  try {
    return await jwtVerify(token, (...input) => keys.key(...input), options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let tried = 0
    for await (const key of error) {
      if (++tried > MAX_KEYS_TRIED) break
      const checked = await jwtVerify(token, key, options).catch((failed: Error) => failed)
      if (!(checked instanceof Error)) return checked
      if (!(checked instanceof errors.JWSSignatureVerificationFailed)) throw checked
    }
    throw error
  }
}

/** In our own words: nothing from the token is repeated. */
function problemOf(error: unknown): string {
  const { code, claim } = error as { code?: string; claim?: string }
  if (code === 'ERR_JWT_EXPIRED') return 'the token has expired'
  if (claim === 'iss') return 'the token is from another issuer'
  if (claim === 'aud') return 'the token is for another audience'
  if (claim === 'nbf') return 'the token is not valid yet'
  if (claim === 'exp') return 'the token has no expiry'
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED') return 'the token is not signed with a public-key algorithm'
  if (code === 'ERR_JWKS_NO_MATCHING_KEY') return 'the token is signed with an unknown key'
  if (code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') return 'the token has an invalid signature'
  return 'the token is not a valid access token'
}
