import type { AddClientAuthentication } from '@modelcontextprotocol/client'
import { removeFromLogs } from '../../logging/redact.ts'
import { loadSdk } from '../http-transport.ts'
import { describeError } from '../server-failure.ts'
import { OAUTH_TIMEOUT_MS } from './limits.ts'
import { LoginAttempt } from './login-attempt.ts'
import type { Login } from './login-store.ts'
import { OAuthDenial, OAuthRefusal, oauthFetch } from './oauth-fetch.ts'
import type { OAuthOptions } from './oauth-options.ts'

/** What an authorization server returns after the user has logged in. */
export interface GrantAnswer {
  code: string
  /** The issuer, as it names itself. */
  iss: string | undefined
}

/** Obtains tokens for one server, with the SDK's functions. */
export class Grants {
  readonly #serverUrl: string
  readonly #oauth: OAuthOptions

  constructor(serverUrl: string, oauth: OAuthOptions) {
    this.#serverUrl = serverUrl
    this.#oauth = oauth
  }

  /** Starts a login; without `redirectUrl`, with the program's own credentials. */
  async attempt(before: Login | undefined, redirectUrl?: string): Promise<LoginAttempt> {
    const { addClientAuthentication: authenticate } = await this.#authentication()
    return new LoginAttempt({
      serverUrl: this.#serverUrl,
      oauth: this.#oauth,
      before,
      redirectUrl,
      authenticate,
    })
  }

  /** Advances a login: to the login page or, with an answer, to its tokens. */
  async advance(attempt: LoginAttempt, challenge: Challenge, answer?: GrantAnswer): Promise<void> {
    const { auth } = await loadSdk()
    const channel = oauthFetch(this.#serverUrl)
    const { resourceMetadataUrl, scope = this.#oauth.scope } = challenge
    try {
      await auth(attempt, {
        serverUrl: this.#serverUrl,
        fetchFn: channel.fetch,
        ...(scope !== undefined && { scope }),
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        ...(answer && { authorizationCode: answer.code }),
        ...(answer?.iss !== undefined && { iss: answer.iss }),
      })
    } finally {
      channel.check()
    }
  }

  /** The login with new tokens, always from the issuer of the old ones. */
  async refreshed(login: Login): Promise<Login> {
    const { refreshAuthorization } = await loadSdk()
    const { discovery, client, tokens, resource } = login
    if (!discovery || !client || tokens?.refresh_token === undefined)
      throw new Error('nothing to refresh with')
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = discovery
    const fresh = await refreshAuthorization(authorizationServerUrl, {
      refreshToken: tokens.refresh_token,
      clientInformation: client,
      fetchFn: oauthFetch(this.#serverUrl).fetch,
      ...(metadata && { metadata }),
      ...(resource !== undefined && { resource }),
      ...(await this.#authentication()),
    })
    return { ...login, tokens: { ...tokens, ...fresh, obtainedAt: Date.now() } }
  }

  async #authentication(): Promise<{ addClientAuthentication?: AddClientAuthentication }> {
    const { privateKey, clientId = '', algorithm = 'ES256' } = this.#oauth
    if (privateKey === undefined) return {}
    const { createPrivateKeyJwtAuth } = await loadSdk()
    const key = { issuer: clientId, subject: clientId, privateKey, alg: algorithm }
    return { addClientAuthentication: createPrivateKeyJwtAuth(key) }
  }
}

/** Throws if the user or the authorization server declined. */
export function grantIn(answer: URLSearchParams): GrantAnswer {
  const [code, problem, more] = ['code', 'error', 'error_description'].map(name => answer.get(name))
  if (problem) throw new OAuthDenial(problem, describeError(more ? `${problem} (${more})` : problem))
  if (!code) throw new Error('the redirect has neither a code nor an error')
  removeFromLogs([code])
  return { code, iss: answer.get('iss') ?? undefined }
}

/** What a server says when it rejects a request for lack of a login or scope. */
export interface Challenge {
  scope?: string | undefined
  resourceMetadataUrl?: URL | undefined
  error?: string | undefined
}

export async function challengeIn(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await loadSdk()
  return extractWWWAuthenticateParams(response)
}

/** Sends a harmless request to learn how to log in to a server; `undefined` if it does not say. */
export async function askForChallenge(url: string): Promise<Challenge | undefined> {
  const response = await fetch(withoutCredentials(url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":0,"method":"ping"}',
    redirect: 'manual',
    signal: AbortSignal.timeout(OAUTH_TIMEOUT_MS),
  })
  await response.body?.cancel()
  return response.status === 401 ? challengeIn(response) : undefined
}

/** Fetch rejects credentials in a URL. */
function withoutCredentials(url: string): URL {
  const bare = new URL(url)
  bare.username = bare.password = ''
  return bare
}

/** Whether a server supports logging in at all. Throws if its metadata cannot be trusted. */
export async function knowsOAuth(url: string, challenge: Challenge = {}): Promise<boolean> {
  const { discoverOAuthServerInfo, checkResourceAllowed } = await loadSdk()
  const { resourceMetadataUrl } = challenge
  const channel = oauthFetch(url)
  const found = await discoverOAuthServerInfo(url, {
    fetchFn: channel.fetch,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  }).finally(() => channel.check())
  const { resourceMetadata, authorizationServerMetadata } = found
  const resource = resourceMetadata?.resource
  if (
    resource !== undefined &&
    !checkResourceAllowed({ requestedResource: url, configuredResource: resource })
  )
    throw new OAuthRefusal(`the server's metadata describes another resource: ${resource}`)
  return resourceMetadata !== undefined || authorizationServerMetadata !== undefined
}

/** Revokes the tokens of a login; resolves to whether the authorization server accepted that. */
export async function revoke({ tokens, discovery, client }: Login, serverUrl: string): Promise<boolean> {
  const metadata = discovery?.authorizationServerMetadata
  const endpoint = (metadata as { revocation_endpoint?: unknown } | undefined)?.revocation_endpoint
  if (typeof endpoint !== 'string' || !tokens || !client) return false
  const { selectClientAuthMethod } = await loadSdk()
  const { client_id: id, client_secret: secret = '' } = client
  const method = selectClientAuthMethod(client, metadata?.token_endpoint_auth_methods_supported ?? [])
  const isBasic = method === 'client_secret_basic'
  const send = (token: string, hint: string) =>
    oauthFetch(serverUrl).fetch(endpoint, {
      method: 'POST',
      headers: isBasic ? { authorization: `Basic ${basic(id, secret)}` } : {},
      body: new URLSearchParams({
        token,
        token_type_hint: hint,
        ...(!isBasic && { client_id: id }),
        ...(method === 'client_secret_post' && { client_secret: secret }),
      }),
    })
  try {
    if (tokens.refresh_token !== undefined) await send(tokens.refresh_token, 'refresh_token')
    await send(tokens.access_token, 'access_token')
    return true
  } catch {
    // The login is deleted here anyway, and the caller says so.
    return false
  }
}

function basic(id: string, secret: string): string {
  return Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
}
