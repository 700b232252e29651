import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { extractWWWAuthenticateParams, OAuthClientProvider } from '@modelcontextprotocol/client'
import type { Logger } from '../../logging/logger.ts'
import { quietLogger } from '../../logging/quiet-logger.ts'
import { removeFromLogs } from '../../logging/redact.ts'
import { loadSdk } from '../http-transport.ts'
import { type HttpServerEntry, isHttp, type ServerEntry } from '../server-entry.ts'
import { describeError, ServerFailure } from '../server-failure.ts'
import { type Login, LoginStore } from './login-store.ts'
import { insecure, OAUTH_TIMEOUT_MS, OAuthDenial, withOAuthFetch } from './oauth-fetch.ts'
import type { OAuthOptions } from './oauth-options.ts'

export interface LoginsOptions {
  /** `mcpServers`; only those over HTTP have logins. */
  servers: Readonly<Record<string, ServerEntry>>
  /** Where logins are saved; if left out, they are kept in memory only. */
  folder?: string | undefined
  logger?: Logger | undefined
}

/** The logins to the servers of a configuration. */
export class Logins {
  readonly #logins = new Map<string, ServerLogin>()
  readonly #store: LoginStore

  constructor({ servers, folder, logger }: LoginsOptions) {
    this.#store = new LoginStore(folder && join(folder, 'logins.json'), problem =>
      quietLogger(logger).warn({ problem }, 'Problem with a saved login'),
    )
    for (const [name, entry] of Object.entries(servers)) this.put(name, entry)
  }

  /** Adds or replaces a server; ignores one that has no login. */
  put(name: string, entry: ServerEntry | undefined): void {
    this.#logins.delete(name)
    if (entry && isHttp(entry) && usesOAuth(entry))
      this.#logins.set(name, new ServerLogin(name, entry, this.#store))
  }

  /** `undefined` for a server that is not over HTTP, or has credentials in its configuration. */
  of(server: string): ServerLogin | undefined {
    return this.#logins.get(server)
  }

  /** Finishes the login this answer belongs to; resolves to the name of its server. */
  async finish(answer: URLSearchParams): Promise<string> {
    const login = [...this.#logins.values()].find(each => each.hasBegun(answer.get('state') ?? ''))
    if (!login) throw new Error('This login was not started here, or has expired. Start again.')
    await login.finish(answer)
    return login.name
  }
}

/** A server with credentials in its configuration needs no login. */
function usesOAuth({ oauth, headers = {}, url }: HttpServerEntry): boolean {
  if (oauth !== undefined) return oauth !== false
  const { username, password } = new URL(url)
  return !new Headers(headers).has('authorization') && !username && !password
}

const MAX_RENEWALS = 2

/** What a server says when it rejects a request for lack of a login or scope. */
type Challenge = ReturnType<typeof extractWWWAuthenticateParams>

/** One login, from its start to its tokens, as the SDK's `auth()` expects it; `login` is what to save at its end. */
interface LoginProvider extends OAuthClientProvider {
  readonly login: Login
  /** Where the user logs in. */
  page: string
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
  /** Unfinished logins, by their `state`; each answer is accepted only once. */
  readonly #pending = new Map<string, LoginProvider>()
  #login: Login | undefined
  #renewing: Promise<boolean> | undefined
  #challenge: Challenge | undefined

  constructor(name: string, { url, oauth }: HttpServerEntry, store: LoginStore) {
    this.name = name
    this.#url = url
    this.#store = store
    this.#oauth = oauth || {}
    this.isInteractive = this.#oauth.grant !== 'client_credentials'
    this.redirectPort = this.#oauth.redirectPort
    removeFromLogs([this.#oauth.clientSecret ?? '', this.#oauth.privateKey ?? ''])
  }

  /**
   * Sends a request with the token, which no host but the server's gets. One rejected for its token is sent again with
   * another, since the server has not processed it. Rejects with a ServerFailure if the user has to log in.
   */
  async fetch(url: string, init: RequestInit): Promise<Response> {
    if (!this.#login) await this.#read()
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
    const state = randomBytes(32).toString('base64url')
    removeFromLogs([state])
    let page = ''
    await this.#update(async login => {
      const provider = this.#provider(login, redirectUrl, state)
      await this.#advance(provider)
      page = provider.page
      this.#pending.set(state, provider)
      // A client that was registered is saved, so that a second login does not register another.
      return login.tokens ? login : { ...login, client: provider.login.client }
    })
    return page
  }

  hasBegun(state: string): boolean {
    return this.#pending.has(state)
  }

  /** Finishes a login with the authorization server's answer, the query of the redirect URL. */
  async finish(answer: URLSearchParams): Promise<void> {
    const { state = '', code, iss, error, error_description } = Object.fromEntries(answer)
    const provider = this.#pending.get(state)
    if (!provider) throw new Error('this login was not started here, or has expired')
    this.#pending.delete(state)
    if (error !== undefined) throw new OAuthDenial(error, error_description)
    if (!code) throw new Error('the redirect has neither a code nor an error')
    removeFromLogs([code])
    await this.#advance(provider, { authorizationCode: code, ...(iss !== undefined && { iss }) })
    await this.#update(async () => provider.login)
  }

  async signIn(): Promise<void> {
    await this.#update(login => this.#signedIn(login))
  }

  /** Deletes the login; resolves to whether there was one. */
  async logout(): Promise<boolean> {
    await this.#read()
    const wasLoggedIn = this.#token !== undefined
    await this.#update(async () => ({}))
    return wasLoggedIn
  }

  /** Calls `listener` when the login changes, even in another process; returns a function that stops it. */
  onChange(listener: () => void): () => void {
    return this.#store.watch(async () => {
      const before = this.#token
      await this.#read()
      if (this.#token !== undefined && this.#token !== before) listener()
    })
  }

  get #token(): string | undefined {
    return this.#login?.tokens?.access_token
  }

  async #read(): Promise<void> {
    this.#login = await this.#store.read(`${this.name} ${this.#url}`)
  }

  async #update(work: (login: Login) => Promise<Login>): Promise<void> {
    this.#login = await this.#store.update(`${this.name} ${this.#url}`, work)
  }

  /** Whether a refused request is worth repeating. Concurrent requests share one renewal. */
  async #hasAnother(response: Response, used: string | undefined): Promise<boolean> {
    const { extractWWWAuthenticateParams, computeScopeUnion } = await loadSdk()
    const challenge = extractWWWAuthenticateParams(response)
    const isForbidden = response.status === 403 && used !== undefined
    const lacksScope = isForbidden && challenge.error === 'insufficient_scope'
    if (response.status !== 401 && !lacksScope) return false
    // What was granted plus what is missing: a login for the missing scope alone would lose the rest.
    const granted = this.#login?.tokens?.scope ?? this.#challenge?.scope ?? this.#oauth.scope
    const scope = lacksScope ? computeScopeUnion(granted, challenge.scope) : challenge.scope
    this.#challenge = { ...challenge, ...(scope !== undefined && { scope }) }
    if (this.#token !== used && this.#token !== undefined) return true
    this.#renewing ??= this.#renew(used, lacksScope).finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  /** Resolves to whether there is another token; rejects if the user has to log in. */
  async #renew(used: string | undefined, lacksScope: boolean): Promise<boolean> {
    let needed: string | undefined
    await this.#update(async login => {
      const { tokens } = login
      // Another process renewed it, or the user logged in.
      if (tokens && tokens.access_token !== used) return login
      if (!this.isInteractive) return this.#signedIn(login)
      if (lacksScope) {
        // Remembered for the next login.
        const wantedScope = this.#challenge?.scope ?? ''
        needed = `more permissions are needed (${describeError(wantedScope)})`
        return { ...login, wantedScope }
      }
      if (tokens?.refresh_token !== undefined)
        return this.#refreshed(login).catch(error => {
          if (!(error instanceof OAuthDenial)) throw error
          needed = `the login has expired or was revoked: ${error.message}`
          return { ...login, tokens: undefined }
        })
      if (tokens) needed = 'the login has expired'
      // A server that says nothing about logging in may want something else.
      else if ((await this.#issuer()) !== undefined) needed = 'login required'
      return login
    })
    if (needed === undefined) return this.#token !== used
    const kind = lacksScope ? 'lacks_scope' : 'needs_login'
    throw new ServerFailure(`${needed}; run \`toolpost auth ${this.name}\``, { kind })
  }

  /** The login with new tokens. Not by `auth()`, which starts a new login if this fails. */
  async #refreshed(login: Login): Promise<Login> {
    const { refreshAuthorization } = await loadSdk()
    const { discovery, client: clientInformation, tokens, resource } = login
    const { refresh_token: refreshToken } = tokens ?? {}
    if (!discovery || !clientInformation || !refreshToken) throw new Error('nothing to refresh with')
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = discovery
    const known = { ...(metadata && { metadata }), ...(resource !== undefined && { resource }) }
    const fresh = await withOAuthFetch(this.#url, fetchFn =>
      refreshAuthorization(authorizationServerUrl, { refreshToken, clientInformation, ...known, fetchFn }),
    )
    return { ...login, tokens: { ...tokens, ...fresh } }
  }

  /** The login of the program itself. What it was given by one authorization server, no other gets. */
  async #signedIn({ tokens }: Login): Promise<Login> {
    const { ClientCredentialsProvider, PrivateKeyJwtProvider } = await loadSdk()
    const { clientId = '', clientSecret = '', privateKey, algorithm = 'ES256', issuer } = this.#oauth
    const expectedIssuer = issuer ?? tokens?.issuer ?? (await this.#issuer()) ?? this.#url
    const options = { clientId, clientName: 'Toolpost', expectedIssuer }
    const provider =
      privateKey === undefined
        ? new ClientCredentialsProvider({ ...options, clientSecret })
        : new PrivateKeyJwtProvider({ ...options, privateKey, algorithm })
    await this.#advance(provider)
    return { tokens: provider.tokens() }
  }

  /** Advances a login: to the login page or, with an answer, to its tokens. */
  async #advance(provider: OAuthClientProvider, answer?: { authorizationCode: string; iss?: string }) {
    const { auth } = await loadSdk()
    this.#challenge ??= await askForChallenge(this.#url)
    const { error: _, scope: named, ...challenge } = this.#challenge
    const scope = this.#login?.wantedScope ?? named ?? this.#oauth.scope
    const options = { ...challenge, serverUrl: this.#url, ...(scope !== undefined && { scope }) }
    await withOAuthFetch(this.#url, fetchFn => auth(provider, { ...options, ...answer, fetchFn }))
  }

  /** The authorization server that the server names; `undefined` if it says nothing about logging in. */
  async #issuer(): Promise<string | undefined> {
    const { discoverOAuthServerInfo } = await loadSdk()
    const { authorizationServerMetadata, ...found } = await withOAuthFetch(this.#url, fetchFn =>
      discoverOAuthServerInfo(this.#url, { ...this.#challenge, fetchFn }),
    )
    return authorizationServerMetadata?.issuer ?? (found.resourceMetadata && found.authorizationServerUrl)
  }

  #provider(before: Login, redirectUrl: string, state: string): LoginProvider {
    const { clientId, clientSecret, clientMetadataUrl, scope, issuer } = this.#oauth
    const serverUrl = this.#url
    const registered = before.client as { redirect_uris?: string[] } | undefined
    const known = registered?.redirect_uris?.includes(redirectUrl) ? before.client : undefined
    const configured = clientId !== undefined && {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      ...(issuer !== undefined && { issuer }),
    }
    const login: Login = { client: configured || known }
    let verifier = ''
    const provider: LoginProvider = {
      login,
      page: '',
      redirectUrl,
      clientMetadata: {
        client_name: 'Toolpost',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        ...(scope !== undefined && { scope }),
      },
      ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
      // A configured client must not be replaced by one a server hands out.
      ...(!configured && { saveClientInformation: client => void Object.assign(login, { client }) }),
      state: () => state,
      clientInformation: () => login.client,
      codeVerifier: () => verifier,
      discoveryState: () => login.discovery,
      tokens: () => undefined,
      saveTokens: tokens => void Object.assign(login, { tokens }),
      saveResourceUrl: resource => void Object.assign(login, { resource }),
      saveCodeVerifier(given) {
        removeFromLogs([given])
        verifier = given
      },
      redirectToAuthorization(url) {
        const problem = insecure(url, serverUrl)
        if (problem) throw new Error(`the login page ${problem}`)
        provider.page = url.href
      },
      saveDiscoveryState(discovery) {
        const { authorizationServerMetadata: metadata } = discovery
        // As the specification requires; the SDK accepts one that says nothing about it.
        if (metadata && !metadata.code_challenge_methods_supported?.includes('S256'))
          throw new Error(`the authorization server ${metadata.issuer} does not support PKCE with S256`)
        login.discovery = discovery
      },
    }
    return provider
  }
}

/** Sends a harmless request to learn how to log in to a server, if it says so. */
async function askForChallenge(serverUrl: string): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await loadSdk()
  const response = await fetch(serverUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":0,"method":"ping"}',
    redirect: 'manual',
    signal: AbortSignal.timeout(OAUTH_TIMEOUT_MS),
  })
  await response.body?.cancel()
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {}
}
