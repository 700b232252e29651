import { removeFromLogs } from '../../logging/redact.ts'
import { loadSdk } from '../http-transport.ts'
import { describeError, NeedsLoginError } from '../server-failure.ts'
import { type LoginProvider, loginProvider } from './login-provider.ts'
import type { Login, LoginStore } from './login-store.ts'
import { OAUTH_TIMEOUT_MS, OAuthDenial, OAuthRefusal, oauthFetch } from './oauth-fetch.ts'
import type { OAuthOptions } from './oauth-options.ts'

/** How many times a request is sent again with another token or a wider scope. */
const MAX_RENEWALS = 2
/** How many unfinished logins are remembered. */
const MAX_PENDING = 8

export interface ServerLoginOptions {
  /** The server's name in the configuration. */
  name: string
  url: string
  oauth: OAuthOptions | undefined
  store: LoginStore
}

/** What a server says when it rejects a request for lack of a login or scope. */
interface Challenge {
  scope?: string | undefined
  resourceMetadataUrl?: URL | undefined
  error?: string | undefined
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
  /** Unfinished logins; each answer is accepted only once. */
  readonly #pending = new Map<string, LoginProvider>()
  readonly #listeners = new Set<() => void>()
  #login: Login | undefined
  #reading: Promise<void> | undefined
  #renewing: Promise<boolean> | undefined
  /** What the server last asked for. */
  #challenge: Challenge | undefined

  constructor({ name, url, oauth, store }: ServerLoginOptions) {
    this.name = name
    this.#url = url
    this.#store = store
    this.#oauth = oauth ?? {}
    this.#isConfigured = oauth !== undefined
    this.isInteractive = this.#oauth.grant !== 'client_credentials'
    this.redirectPort = this.#oauth.redirectPort
    removeFromLogs([this.#oauth.clientSecret ?? '', this.#oauth.privateKey ?? ''])
  }

  /**
   * Sends a request with the token, which no host but the server's gets. One rejected for its token is sent again with
   * another, since the server has not processed it. Rejects with a NeedsLoginError if the user has to log in.
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
    let page = ''
    // Saves the client if one was registered, so that a second login does not register another.
    await this.#update(async login => {
      const provider = await this.#provider(login, redirectUrl)
      await this.#advance(provider)
      if (!provider.page) throw new Error('the authorization server returned no login page')
      page = provider.page.href
      removeFromLogs([provider.id])
      this.#pending.set(provider.id, provider)
      const [oldest] = this.#pending.keys()
      if (this.#pending.size > MAX_PENDING) this.#pending.delete(oldest ?? '')
      return provider.registered ? { ...login, registered: provider.registered } : login
    })
    return page
  }

  hasBegun(state: string): boolean {
    return this.#pending.has(state)
  }

  /** Finishes a login with the authorization server's answer, the query of the redirect URL. */
  async finish(answer: URLSearchParams): Promise<void> {
    const provider = this.#pending.get(answer.get('state') ?? '')
    if (!provider) throw new Error('this login was not started here, or has expired')
    this.#pending.delete(provider.id)
    const [code, problem, more] = ['code', 'error', 'error_description'].map(name => answer.get(name))
    if (problem) throw new OAuthDenial(describeError(more ? `${problem} (${more})` : problem))
    if (!code) throw new Error('the redirect has neither a code nor an error')
    removeFromLogs([code])
    await this.#advance(provider, { code, iss: answer.get('iss') ?? undefined })
    await this.#update(async () => provider.login)
    this.#tell()
  }

  /** Obtains a token with the program's own credentials. */
  async signIn(): Promise<void> {
    this.#challenge ??= await askForChallenge(this.#url)
    await this.#update(login => this.#signIn(login))
    this.#tell()
  }

  /** Ends the login, if possible at the authorization server too; resolves to what was done. */
  async logout(): Promise<'none' | 'revoked' | 'forgotten'> {
    await this.#read()
    const login = this.#login
    if (!login?.tokens) return 'none'
    await this.#update(async () => undefined)
    this.#tell()
    return (await revoke(login, this.#url)) ? 'revoked' : 'forgotten'
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

  #tell(): void {
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
    this.#take(
      await this.#store.update(before => {
        this.#take(before)
        return work(before)
      }),
    )
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
    if (this.isInteractive && lacksScope) throw await this.#lacking()
    const isRenewable = !this.isInteractive || this.#login?.tokens?.refresh_token !== undefined
    if (!isRenewable && this.#token !== undefined) throw this.#needed('the login has expired')
    if (!isRenewable && !this.#isConfigured && !(await this.#knowsOAuth())) return false
    if (!isRenewable) throw this.#needed('login required')
    let denied: string | undefined
    await this.#update(async login => {
      if (login?.tokens && login.tokens.access_token !== used) return login
      if (!this.isInteractive) return this.#signIn(login)
      try {
        return await this.#refreshed(login ?? {})
      } catch (error) {
        if (!(error instanceof OAuthDenial)) throw error
        denied = error.message
        const { tokens: _, ...rest } = login ?? {}
        return rest
      }
    })
    if (denied !== undefined) throw this.#needed(`the login has expired or was revoked: ${denied}`)
    return true
  }

  /** The login with new tokens, always from the issuer of the old ones. */
  async #refreshed(login: Login): Promise<Login> {
    const { refreshAuthorization } = await loadSdk()
    const { discovery, client, tokens, resource } = login
    if (!discovery || !client || !tokens?.refresh_token) throw new Error('nothing to refresh with')
    const metadata = discovery.authorizationServerMetadata
    const authenticate = await this.#authentication()
    const fresh = await refreshAuthorization(discovery.authorizationServerUrl, {
      refreshToken: tokens.refresh_token,
      clientInformation: client,
      fetchFn: oauthFetch(this.#url).fetch,
      ...(metadata && { metadata }),
      ...(resource !== undefined && { resource }),
      ...(authenticate && { addClientAuthentication: authenticate }),
    })
    return { ...login, tokens: { ...tokens, ...fresh } }
  }

  async #signIn(before: Login | undefined): Promise<Login> {
    const provider = await this.#provider(before)
    await this.#advance(provider)
    return provider.login
  }

  async #provider(before: Login | undefined, redirectUrl?: string): Promise<LoginProvider> {
    const authenticate = await this.#authentication()
    return loginProvider({ serverUrl: this.#url, oauth: this.#oauth, before, redirectUrl, authenticate })
  }

  async #authentication() {
    const { privateKey, clientId = '', algorithm = 'ES256' } = this.#oauth
    if (privateKey === undefined) return undefined
    const { createPrivateKeyJwtAuth } = await loadSdk()
    return createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg: algorithm })
  }

  /** Advances a login: to the login page or, with an answer, to its tokens. */
  async #advance(provider: LoginProvider, answer?: { code: string; iss: string | undefined }): Promise<void> {
    const { auth } = await loadSdk()
    const channel = oauthFetch(this.#url)
    const { resourceMetadataUrl } = this.#challenge ?? {}
    const scope = this.#login?.wantedScope ?? this.#challenge?.scope ?? this.#oauth.scope
    try {
      await auth(provider, {
        serverUrl: this.#url,
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

  /** Whether the server supports logging in at all. Throws if its metadata cannot be trusted. */
  async #knowsOAuth(): Promise<boolean> {
    const { discoverOAuthServerInfo, checkResourceAllowed } = await loadSdk()
    const { resourceMetadataUrl } = this.#challenge ?? {}
    const channel = oauthFetch(this.#url)
    const found = await discoverOAuthServerInfo(this.#url, {
      fetchFn: channel.fetch,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
    }).finally(() => channel.check())
    const resource = found.resourceMetadata?.resource
    if (resource && !checkResourceAllowed({ requestedResource: this.#url, configuredResource: resource }))
      throw new OAuthRefusal(`the server's metadata describes another resource: ${resource}`)
    return found.resourceMetadata !== undefined || found.authorizationServerMetadata !== undefined
  }

  #needed(why: string, lacksScope = false): NeedsLoginError {
    return new NeedsLoginError(this.name, why, lacksScope)
  }

  /** Remembers for the next login which scope is missing. */
  async #lacking(): Promise<NeedsLoginError> {
    const wantedScope = this.#challenge?.scope
    await this.#update(async login => ({ ...login, wantedScope }))
    const what = wantedScope === undefined ? '' : ` (${describeError(wantedScope)})`
    return this.#needed(`more permissions are needed${what}`, true)
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

/** Revokes the tokens of a login; resolves to whether the authorization server accepted that. */
async function revoke({ tokens, discovery, client }: Login, serverUrl: string): Promise<boolean> {
  const metadata = discovery?.authorizationServerMetadata as { revocation_endpoint?: string } | undefined
  const endpoint = metadata?.revocation_endpoint
  if (typeof endpoint !== 'string' || !tokens || !client) return false
  const { client_id, client_secret } = client
  const credentials = { client_id, ...(client_secret !== undefined && { client_secret }) }
  try {
    for (const token of [tokens.refresh_token, tokens.access_token])
      if (token !== undefined) {
        const body = new URLSearchParams({ token, ...credentials })
        await oauthFetch(serverUrl).fetch(endpoint, { method: 'POST', body })
      }
    return true
  } catch {
    // The login is deleted here anyway, and the caller says so.
    return false
  }
}
