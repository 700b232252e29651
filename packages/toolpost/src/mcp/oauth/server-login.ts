import { randomBytes } from 'node:crypto'
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client'
import { removeFromLogs } from '../../logging/redact.ts'
import { loadSdk } from '../http-transport.ts'
import type { HttpServerEntry } from '../server-entry.ts'
import { describeError, ServerFailure } from '../server-failure.ts'
import type { Login, LoginStore } from './login-store.ts'
import { insecure, OAUTH_TIMEOUT_MS, OAuthDenial, OAuthRefusal, withOAuthFetch } from './oauth-fetch.ts'
import type { OAuthOptions } from './oauth-options.ts'

/** How many times a request is sent again with another token or a wider scope. */
const MAX_RENEWALS = 2

/** What a server says when it rejects a request for lack of a login or scope. */
interface Challenge {
  scope?: string | undefined
  resourceMetadataUrl?: URL | undefined
  error?: string | undefined
}

/** One login, from its start to its tokens, as the SDK's `auth()` expects it. */
interface LoginProvider extends OAuthClientProvider {
  /** What is to be saved once there are tokens: a failed login leaves the previous one alone. */
  readonly login: Login
  page?: URL
  /** The client that was registered for this login, if it was. */
  registered?: StoredOAuthClientInformation
}

/** The login to one server: its token, with one renewal for all waiting requests. The SDK speaks OAuth. */
export class ServerLogin {
  readonly name: string
  /** Whether the user logs in, rather than the program itself. */
  readonly isInteractive: boolean
  /** The port that a login is redirected to, if it is fixed. */
  readonly redirectPort: number | undefined
  readonly #url: string
  readonly #store: LoginStore
  readonly #oauth: OAuthOptions
  readonly #isConfigured: boolean
  /** Unfinished logins, by their `state`; each answer is accepted only once. */
  readonly #pending = new Map<string, LoginProvider>()
  readonly #listeners = new Set<() => void>()
  #login: Login | undefined
  #reading: Promise<void> | undefined
  #renewing: Promise<boolean> | undefined
  #challenge: Challenge | undefined

  constructor(name: string, { url, oauth }: HttpServerEntry, store: LoginStore) {
    this.name = name
    this.#url = url
    this.#store = store
    this.#oauth = oauth || {}
    this.#isConfigured = oauth !== undefined
    this.isInteractive = this.#oauth.grant !== 'client_credentials'
    this.redirectPort = this.#oauth.redirectPort
    removeFromLogs([this.#oauth.clientSecret ?? '', this.#oauth.privateKey ?? ''])
  }

  /**
   * Sends a request with the token, which no host but the server's gets. One rejected for its token is sent again with
   * another, since the server has not processed it. Rejects with a ServerFailure if the user has to log in.
   */
  async fetch(url: string, init: RequestInit): Promise<Response> {
    this.#reading ??= this.#read()
    await this.#reading
    const isOwn = new URL(url).origin === new URL(this.#url).origin
    for (let renewals = 0; ; renewals++) {
      const token = isOwn ? this.#token : undefined
      const headers = new Headers(init.headers)
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
      const response = await fetch(url, { ...init, headers })
      if (renewals === MAX_RENEWALS || !(await this.#hasAnother(response, token))) return response
      await response.body?.cancel()
    }
  }

  /** Starts a login; resolves to the page where the user logs in. */
  async begin(redirectUrl: string): Promise<string> {
    if (!this.isInteractive) throw new Error(`'${this.name}' logs in with its own credentials`)
    this.#challenge ??= await askForChallenge(this.#url)
    const state = randomBytes(32).toString('base64url')
    let page = ''
    // Saves the client if one was registered, so that a second login does not register another.
    await this.#update(async login => {
      const provider = await this.#provider(login, { url: redirectUrl, state })
      await this.#advance(provider)
      if (!provider.page) throw new Error('the authorization server returned no login page')
      page = provider.page.href
      removeFromLogs([state])
      this.#pending.set(state, provider)
      return provider.registered ? { ...login, registered: provider.registered } : login
    })
    return page
  }

  hasBegun(state: string): boolean {
    return this.#pending.has(state)
  }

  /** Finishes a login with the authorization server's answer, the query of the redirect URL. */
  async finish(answer: URLSearchParams): Promise<void> {
    const state = answer.get('state') ?? ''
    const provider = this.#pending.get(state)
    if (!provider) throw new Error('this login was not started here, or has expired')
    this.#pending.delete(state)
    const [code, problem, more] = ['code', 'error', 'error_description'].map(name => answer.get(name))
    if (problem) throw new OAuthDenial(describeError(more ? `${problem} (${more})` : problem))
    if (!code) throw new Error('the redirect has neither a code nor an error')
    removeFromLogs([code])
    const iss = answer.get('iss')
    await this.#advance(provider, { authorizationCode: code, ...(iss !== null && { iss }) })
    await this.#update(async () => provider.login)
    this.#notify()
  }

  async signIn(): Promise<void> {
    this.#challenge ??= await askForChallenge(this.#url)
    await this.#update(login => this.#signIn(login))
    this.#notify()
  }

  /** Ends the login, if possible at the authorization server too; resolves to what was done. */
  async logout(): Promise<'none' | 'revoked' | 'forgotten'> {
    await this.#read()
    const login = this.#login
    if (!login?.tokens) return 'none'
    await this.#update(async () => undefined)
    this.#notify()
    // The login is deleted here in any case.
    return (await revoke(login, this.#url).catch(() => false)) ? 'revoked' : 'forgotten'
  }

  /** Calls `listener` when the login changes, even in another process; returns a function that stops it. */
  onChange(listener: () => void): () => void {
    const stopWatching = this.#store.watch(async () => {
      const before = this.#token
      await this.#read()
      if (this.#token !== undefined && this.#token !== before) listener()
    })
    this.#listeners.add(listener)
    return () => {
      stopWatching()
      this.#listeners.delete(listener)
    }
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }

  get #token(): string | undefined {
    return this.#login?.tokens?.access_token
  }

  async #read(): Promise<void> {
    this.#take(await this.#store.read())
  }

  #take(login: Login | undefined): void {
    const { access_token = '', refresh_token = '' } = login?.tokens ?? {}
    removeFromLogs([access_token, refresh_token, login?.client?.client_secret ?? ''])
    this.#login = login
  }

  async #update(work: (login: Login | undefined) => Promise<Login | undefined>): Promise<void> {
    const login = await this.#store.update(before => {
      this.#take(before)
      return work(before)
    })
    this.#take(login)
  }

  /** Whether a refused request is worth repeating. Concurrent requests share one renewal. */
  async #hasAnother(response: Response, used: string | undefined): Promise<boolean> {
    if (response.status !== 401 && response.status !== 403) return false
    const { extractWWWAuthenticateParams, computeScopeUnion } = await loadSdk()
    const challenge: Challenge = extractWWWAuthenticateParams(response)
    const lacksScope = response.status === 403
    if (lacksScope && (challenge.error !== 'insufficient_scope' || used === undefined)) return false
    // What was granted plus what is missing: a login for the missing scope alone would lose the rest.
    const granted = this.#login?.tokens?.scope ?? this.#challenge?.scope ?? this.#oauth.scope
    if (lacksScope) challenge.scope = computeScopeUnion(granted, challenge.scope)
    this.#challenge = challenge
    if (this.#token !== used && this.#token !== undefined) return true
    this.#renewing ??= this.#renew(used, lacksScope).finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renew(used: string | undefined, lacksScope: boolean): Promise<boolean> {
    await this.#read()
    // Another process renewed it, or the user logged in.
    if (this.#token !== undefined && this.#token !== used) return true
    if (this.isInteractive && lacksScope) {
      // Remembered for the next login.
      const wantedScope = this.#challenge?.scope
      await this.#update(async login => ({ ...login, wantedScope }))
      const what = wantedScope === undefined ? '' : ` (${describeError(wantedScope)})`
      throw this.#needed(`more permissions are needed${what}`, 'lacks_scope')
    }
    if (this.isInteractive && this.#login?.tokens?.refresh_token === undefined) {
      if (this.#token === undefined && !this.#isConfigured && !(await this.#knowsOAuth())) return false
      throw this.#needed(this.#token === undefined ? 'login required' : 'the login has expired')
    }
    let denied: string | undefined
    await this.#update(async (login = {}) => {
      if (login.tokens && login.tokens.access_token !== used) return login
      if (!this.isInteractive) return this.#signIn(login)
      return this.#refreshed(login).catch(error => {
        if (!(error instanceof OAuthDenial)) throw error
        denied = error.message
        const { tokens: _, ...rest } = login
        return rest
      })
    })
    if (denied !== undefined) throw this.#needed(`the login has expired or was revoked: ${denied}`)
    return true
  }

  #needed(why: string, kind: 'needs_login' | 'lacks_scope' = 'needs_login'): ServerFailure {
    return new ServerFailure(`${why}; run \`toolpost auth ${this.name}\``, { kind })
  }

  /** The login with new tokens, always from the issuer of the old ones. */
  async #refreshed(login: Login): Promise<Login> {
    const { refreshAuthorization } = await loadSdk()
    const { discovery, client, tokens, resource } = login
    if (!discovery || !client || !tokens?.refresh_token) throw new Error('nothing to refresh with')
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = discovery
    const options = {
      refreshToken: tokens.refresh_token,
      clientInformation: client,
      ...(metadata && { metadata }),
      ...(resource !== undefined && { resource }),
      ...(await this.#authentication()),
    }
    const fresh = await withOAuthFetch(this.#url, fetchFn =>
      refreshAuthorization(authorizationServerUrl, { ...options, fetchFn }),
    )
    return { ...login, tokens: { ...tokens, ...fresh } }
  }

  async #signIn(before: Login | undefined): Promise<Login> {
    const provider = await this.#provider(before)
    await this.#advance(provider)
    return provider.login
  }

  /** With a key instead of a secret, if there is one. */
  async #authentication() {
    const { privateKey, clientId = '', algorithm = 'ES256' } = this.#oauth
    if (privateKey === undefined) return {}
    const { createPrivateKeyJwtAuth } = await loadSdk()
    const key = { issuer: clientId, subject: clientId, privateKey, alg: algorithm }
    return { addClientAuthentication: createPrivateKeyJwtAuth(key) }
  }

  /** Advances a login: to the login page or, with an answer, to its tokens. */
  async #advance(
    provider: LoginProvider,
    answer?: { authorizationCode: string; iss?: string },
  ): Promise<void> {
    const { auth } = await loadSdk()
    const { resourceMetadataUrl } = this.#challenge ?? {}
    const scope = this.#login?.wantedScope ?? this.#challenge?.scope ?? this.#oauth.scope
    const options = {
      serverUrl: this.#url,
      ...(scope !== undefined && { scope }),
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...answer,
    }
    await withOAuthFetch(this.#url, fetchFn => auth(provider, { ...options, fetchFn }))
  }

  /** Whether the server supports logging in at all. Throws if its metadata cannot be trusted. */
  async #knowsOAuth(): Promise<boolean> {
    const { discoverOAuthServerInfo, checkResourceAllowed } = await loadSdk()
    const { resourceMetadataUrl } = this.#challenge ?? {}
    const found = await withOAuthFetch(this.#url, fetchFn =>
      discoverOAuthServerInfo(this.#url, { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) }),
    )
    const resource = found.resourceMetadata?.resource
    if (resource && !checkResourceAllowed({ requestedResource: this.#url, configuredResource: resource }))
      throw new OAuthRefusal(`the server's metadata describes another resource: ${resource}`)
    return found.resourceMetadata !== undefined || found.authorizationServerMetadata !== undefined
  }

  /** Without a redirect, the program uses its own credentials. */
  async #provider(
    before: Login | undefined,
    redirect?: { url: string; state: string },
  ): Promise<LoginProvider> {
    const oauth = this.#oauth
    const serverUrl = this.#url
    const login: Login = {}
    let client = knownClient(oauth, before, redirect?.url)
    let verifier = ''
    const provider: LoginProvider = {
      login,
      redirectUrl: redirect?.url,
      clientMetadata: {
        client_name: 'Toolpost',
        redirect_uris: redirect ? [redirect.url] : [],
        grant_types: redirect ? ['authorization_code', 'refresh_token'] : ['client_credentials'],
        ...(redirect && { response_types: ['code'], application_type: 'native' }),
        ...(oauth.scope !== undefined && { scope: oauth.scope }),
      },
      ...(oauth.clientMetadataUrl !== undefined && { clientMetadataUrl: oauth.clientMetadataUrl }),
      ...(await this.#authentication()),
      ...(!redirect && {
        prepareTokenRequest: scope =>
          new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) }),
      }),
      // A configured client must not be replaced by one a server hands out.
      ...(oauth.clientId === undefined && {
        saveClientInformation: given => {
          client = provider.registered = given
        },
      }),
      state: () => redirect?.state ?? '',
      clientInformation: () => client,
      codeVerifier: () => verifier,
      discoveryState: () => login.discovery,
      // Existing tokens are renewed by `#refreshed`.
      tokens: () => undefined,
      saveTokens: tokens => void Object.assign(login, { tokens, client }),
      saveResourceUrl: resource => void Object.assign(login, { resource }),
      saveCodeVerifier(given) {
        removeFromLogs([given])
        verifier = given
      },
      redirectToAuthorization(url) {
        const problem = insecure(url, serverUrl)
        if (problem) throw new OAuthRefusal(`the login page ${problem}`)
        provider.page = url
      },
      saveDiscoveryState(discovery) {
        const issuer = checkedIssuer(discovery, oauth.issuer, redirect !== undefined)
        Object.assign(login, { discovery, issuer })
      },
    }
    return provider
  }
}

/** As the specification requires, an authorization server that does not declare PKCE support is not used. */
function checkedIssuer(
  { authorizationServerMetadata: metadata, authorizationServerUrl }: OAuthDiscoveryState,
  expected: string | undefined,
  needsPkce: boolean,
): string {
  const issuer = metadata?.issuer ?? authorizationServerUrl
  const bare = (url: string) => url.replace(/\/$/, '')
  if (expected !== undefined && bare(issuer) !== bare(expected))
    throw new OAuthRefusal(`the server names ${issuer} as its authorization server; expected ${expected}`)
  if (needsPkce && metadata && !metadata.code_challenge_methods_supported?.includes('S256'))
    throw new OAuthRefusal(`the authorization server ${issuer} does not support PKCE with S256`)
  return issuer
}

/** The configured client, bound to the authorization server configured or first used; else one registered before. */
function knownClient(oauth: OAuthOptions, before: Login | undefined, redirectUrl: string | undefined) {
  const { clientId, clientSecret, issuer = before?.issuer } = oauth
  if (clientId === undefined)
    return [before?.client, before?.registered].find(client => {
      const uris = (client as { redirect_uris?: unknown } | undefined)?.redirect_uris
      return Array.isArray(uris) && uris.includes(redirectUrl)
    })
  return {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(issuer !== undefined && { issuer }),
  }
}

/** Sends a harmless request to learn how to log in to a server; `undefined` if it does not say. */
async function askForChallenge(serverUrl: string): Promise<Challenge | undefined> {
  const { extractWWWAuthenticateParams } = await loadSdk()
  const url = new URL(serverUrl)
  url.username = url.password = ''
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":0,"method":"ping"}',
    redirect: 'manual',
    signal: AbortSignal.timeout(OAUTH_TIMEOUT_MS),
  })
  await response.body?.cancel()
  return response.status === 401 ? extractWWWAuthenticateParams(response) : undefined
}

/** Revokes the tokens of a login; resolves to whether the authorization server can. */
async function revoke({ tokens, discovery, client }: Login, serverUrl: string): Promise<boolean> {
  const metadata = discovery?.authorizationServerMetadata as { revocation_endpoint?: string } | undefined
  const endpoint = metadata?.revocation_endpoint
  if (typeof endpoint !== 'string' || !tokens || !client) return false
  const { client_id, client_secret } = client
  for (const token of [tokens.refresh_token, tokens.access_token]) {
    if (token === undefined) continue
    const body = new URLSearchParams({
      token,
      client_id,
      ...(client_secret !== undefined && { client_secret }),
    })
    await withOAuthFetch(serverUrl, fetch => fetch(endpoint, { method: 'POST', body }))
  }
  return true
}
