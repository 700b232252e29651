import type { Logger } from '../../logging/logger.ts'
import { removeFromLogs } from '../../logging/redact.ts'
import { loadSdk } from '../sdk-client.ts'
import { describeError, NeedsLoginError } from '../server-failure.ts'
import { askForChallenge, type Challenge, challengeIn, knowsOAuth } from './challenge.ts'
import { Grants, grantIn } from './grants.ts'
import { RENEWAL_PAUSE_MS } from './limits.ts'
import { isDue, isOver, type Login, withoutTokens } from './login.ts'
import type { LoginStore } from './login-store.ts'
import { OAuthDenial } from './oauth-fetch.ts'
import type { OAuthOptions } from './oauth-options.ts'
import { PendingLogins } from './pending-logins.ts'
import { RecentSecrets } from './recent-secrets.ts'
import { revoke } from './revoke.ts'

export interface ServerLoginOptions {
  /** The server's name in the configuration. */
  name: string
  url: string
  oauth: OAuthOptions | undefined
  store: LoginStore
  logger: Logger
}

/** The login to one server: its token, renewed before it expires, with one renewal for all waiting requests. */
export class ServerLogin {
  readonly #options: ServerLoginOptions
  readonly #origin: string
  readonly #oauth: OAuthOptions
  readonly #grants: Grants
  readonly #pending = new PendingLogins()
  readonly #secrets = new RecentSecrets()
  readonly #listeners = new Set<() => void>()
  #login: Login | undefined
  #pausedUntil = 0
  #reading: Promise<void> | undefined
  #renewing: Promise<boolean> | undefined
  /** What the server last asked for. */
  #challenge: Challenge | undefined

  constructor(options: ServerLoginOptions) {
    this.#options = options
    this.#oauth = options.oauth ?? {}
    this.#grants = new Grants(options.url, this.#oauth)
    this.#origin = new URL(options.url).origin
    const { clientSecret = '', privateKey = '' } = this.#oauth
    removeFromLogs([clientSecret, privateKey])
  }

  get name(): string {
    return this.#options.name
  }

  /** Whether the user logs in, rather than the program itself. */
  get isInteractive(): boolean {
    return this.#oauth.grant !== 'client_credentials'
  }

  /** The port that a login is redirected to, if it is fixed. */
  get redirectPort(): number | undefined {
    return this.#oauth.redirectPort
  }

  /** The token for a request to this URL; none for any host but the server's. */
  async tokenFor(url: string): Promise<string | undefined> {
    if (new URL(url).origin !== this.#origin) return undefined
    this.#reading ??= this.#read()
    await this.#reading
    const tokens = this.#login?.tokens
    if (tokens && isDue(tokens) && this.#canRenew) await this.#renewEarly(tokens)
    return this.#login?.tokens?.access_token
  }

  /** Whether a refused request is worth repeating with the current token. */
  async hasAnother(response: Response, used: string | undefined): Promise<boolean> {
    if (response.status !== 401 && response.status !== 403) return false
    const challenge = await challengeIn(response)
    const lacksScope = response.status === 403
    if (lacksScope && (challenge.error !== 'insufficient_scope' || used === undefined)) return false
    this.#challenge = lacksScope ? await this.#widened(challenge) : challenge
    return this.#renewed(used, lacksScope)
  }

  /** Starts a login; resolves to the page where the user logs in. */
  async begin(redirectUrl: string): Promise<string> {
    const { name, url } = this.#options
    if (!this.isInteractive) throw new Error(`'${name}' logs in with its own credentials`)
    await this.#read()
    this.#challenge ??= await askForChallenge(url)
    const attempt = await this.#grants.attempt(this.#login, redirectUrl)
    await this.#grants.advance(attempt, this.#wanted)
    if (!attempt.url) throw new Error('the authorization server returned no login page')
    this.#pending.add(attempt)
    return attempt.url.href
  }

  hasBegun(state: string): boolean {
    return this.#pending.has(state)
  }

  /** Finishes a login with the authorization server's answer, the query of the redirect URL. */
  async finish(answer: URLSearchParams): Promise<void> {
    const attempt = this.#pending.take(answer.get('state') ?? '')
    await this.#grants.advance(attempt, this.#wanted, grantIn(answer))
    await this.#options.store.alone(() => this.#keep(attempt.login()))
    this.#tell()
  }

  /** Obtains a token with the program's own credentials. */
  async signIn(): Promise<void> {
    this.#challenge ??= await askForChallenge(this.#options.url)
    await this.#options.store.alone(() => this.#signIn(undefined))
    this.#tell()
  }

  /** Ends the login, if possible at the authorization server too; resolves to what was done. */
  async logout(): Promise<'none' | 'revoked' | 'forgotten'> {
    await this.#read()
    const login = this.#login
    if (!login?.tokens) return 'none'
    await this.#options.store.alone(() => this.#keep(undefined))
    this.#tell()
    return (await revoke(login, this.#options.url)) ? 'revoked' : 'forgotten'
  }

  /** Calls `listener` when the login changes, even in another process; returns a function that stops it. */
  onChange(listener: () => void): () => void {
    const stopWatching = this.#options.store.watch(() => void this.#look(listener))
    this.#listeners.add(listener)
    return () => {
      stopWatching()
      this.#listeners.delete(listener)
    }
  }

  async #look(listener: () => void): Promise<void> {
    const before = this.#login?.tokens?.access_token
    await this.#read()
    const now = this.#login?.tokens?.access_token
    if (now !== undefined && now !== before) listener()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }

  async #read(): Promise<void> {
    this.#take(await this.#options.store.read())
  }

  #take(login: Login | undefined): void {
    if (login) this.#secrets.add(login)
    this.#login = login
  }

  async #keep(login: Login | undefined): Promise<void> {
    this.#take(login)
    await this.#options.store.write(login)
  }

  get #canRenew(): boolean {
    return !this.isInteractive || this.#login?.tokens?.refresh_token !== undefined
  }

  /** What a login asks for: the scope a call needed, or else the one the server named. */
  get #wanted(): Challenge {
    const scope = this.#login?.wanted?.scope ?? this.#challenge?.scope
    return { ...this.#challenge, scope }
  }

  /** Renews a token before it expires: while it is still valid, nothing waits for this, and it may fail. */
  #renewEarly(tokens: NonNullable<Login['tokens']>): Promise<void> | undefined {
    if (Date.now() < this.#pausedUntil) return undefined
    const renewal = this.#renewed(tokens.access_token, false).then(
      () => {},
      error => {
        this.#pausedUntil = Date.now() + RENEWAL_PAUSE_MS
        this.#options.logger.warn({ error: describeError(error) }, 'Token renewal failed')
      },
    )
    return isOver(tokens) ? renewal : undefined
  }

  /** Concurrent requests share one renewal; resolves to whether there is another token now. */
  #renewed(used: string | undefined, lacksScope: boolean): Promise<boolean> {
    const now = this.#login?.tokens?.access_token
    if (now !== used && now !== undefined) return Promise.resolve(true)
    this.#renewing ??= this.#renew(used, lacksScope).finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renew(used: string | undefined, lacksScope: boolean): Promise<boolean> {
    await this.#read()
    const tokens = this.#login?.tokens
    // Another process renewed it, or the user logged in.
    if (tokens && tokens.access_token !== used) return true
    if (this.isInteractive && lacksScope) throw await this.#lacking()
    if (this.#canRenew) return this.#options.store.alone(() => this.#renewAlone(used))
    if (tokens) throw this.#needed('the login has expired')
    if (!this.#options.oauth && !(await knowsOAuth(this.#options.url, this.#challenge))) return false
    throw this.#needed('login required')
  }

  async #renewAlone(used: string | undefined): Promise<boolean> {
    await this.#read()
    const tokens = this.#login?.tokens
    if (tokens && tokens.access_token !== used) return true
    if (!this.isInteractive) return this.#signIn(this.#login)
    try {
      await this.#keep(await this.#grants.refreshed(this.#login ?? {}))
      return true
    } catch (error) {
      if (!(error instanceof OAuthDenial)) throw error
      await this.#read()
      // If another process was faster, its tokens count.
      if (this.#login?.tokens && this.#login.tokens.access_token !== used) return true
      await this.#keep(withoutTokens(this.#login))
      throw this.#needed(`the login has expired or was revoked: ${error.message}`)
    }
  }

  async #signIn(before: Login | undefined): Promise<true> {
    const attempt = await this.#grants.attempt(before)
    await this.#grants.advance(attempt, this.#challenge ?? {})
    await this.#keep(attempt.login())
    return true
  }

  #needed(why: string, lacksScope = false): NeedsLoginError {
    return new NeedsLoginError(this.#options.name, { why, lacksScope })
  }

  /** Remembers for the next login which scope is missing. */
  async #lacking(): Promise<NeedsLoginError> {
    const scope = this.#challenge?.scope
    await this.#keep({ ...this.#login, wanted: { scope } })
    const what = scope === undefined ? '' : ` (${describeError(scope)})`
    return this.#needed(`more permissions are needed${what}`, true)
  }

  /** What was granted plus what is missing: a login for the missing scope alone would lose the rest. */
  async #widened(challenge: Challenge): Promise<Challenge> {
    const { computeScopeUnion } = await loadSdk()
    const granted = this.#login?.tokens?.scope ?? this.#challenge?.scope ?? this.#oauth.scope
    return { ...challenge, scope: computeScopeUnion(granted, challenge.scope) }
  }
}
