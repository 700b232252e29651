import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters, RemoteJWKSet } from 'jose'
import { limitedBytes } from '../../mcp/oauth/oauth-fetch.ts'
import { isRecord } from '../../runtime/guards.ts'
import { isLoopback } from '../../runtime/loopback.ts'
import {
  ISSUER_KEYS_AGE_MS,
  ISSUER_KEYS_COOL_DOWN_MS,
  ISSUER_RETRY_MS,
  ISSUER_TIMEOUT_MS,
  MAX_ISSUER_BYTES,
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
