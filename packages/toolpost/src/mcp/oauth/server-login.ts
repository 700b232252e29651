import type { Logger } from '../../logging/logger.ts'
import { forgetSecrets, removeFromLogs } from '../../logging/redact.ts'
import { loadSdk } from '../http-transport.ts'
import { describeError, NeedsLoginError } from '../server-failure.ts'
import {
  askForChallenge,
  type Challenge,
  challengeIn,
  Grants,
  grantIn,
  knowsOAuth,
  revoke,
} from './grants.ts'
import {
  LOGIN_TTL_MS,
  MAX_PENDING_LOGINS,
  MAX_RENEWALS,
  REMEMBERED_LOGINS,
  RENEW_BEFORE_MS,
  RENEWAL_PAUSE_MS,
} from './limits.ts'
import type { LoginAttempt } from './login-attempt.ts'
import type { Login, LoginStore } from './login-store.ts'
import { OAuthDenial } from './oauth-fetch.ts'
import type { OAuthOptions } from './oauth-options.ts'

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
    this.#challenge ??= await askForChallenge(url)
    let page: string | undefined
    // Saves the client if one was registered, so that a second login does not register another.
    await this.#update(async login => {
      const attempt = await this.#grants.attempt(login, redirectUrl)
      await this.#grants.advance(attempt, this.#wanted)
      if (!attempt.url) throw new Error('the authorization server returned no login page')
      this.#pending.add(attempt)
      page = attempt.url.href
      return attempt.registered ? { ...login, registered: attempt.registered } : login
    })
    return page as unknown as string
  }

  hasBegun(state: string): boolean {
    return this.#pending.has(state)
  }

  /** Finishes a login with the authorization server's answer, the query of the redirect URL. */
  async finish(answer: URLSearchParams): Promise<void> {
    const attempt = this.#pending.take(answer.get('state') ?? '')
    await this.#grants.advance(attempt, this.#wanted, grantIn(answer))
    await this.#update(async () => attempt.login())
    this.#tell()
  }

  /** Obtains a token with the program's own credentials. */
  async signIn(): Promise<void> {
    this.#challenge ??= await askForChallenge(this.#options.url)
    await this.#update(() => this.#signIn(undefined))
    this.#tell()
  }

  /** Ends the login, if possible at the authorization server too; resolves to what was done. */
  async logout(): Promise<'none' | 'revoked' | 'forgotten'> {
    await this.#read()
    const login = this.#login
    if (!login?.tokens) return 'none'
    await this.#update(async () => undefined)
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

  async #update(work: (login: Login | undefined) => Promise<Login | undefined>): Promise<void> {
    const login = await this.#options.store.update(before => {
      this.#take(before)
      return work(before)
    })
    this.#take(login)
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
    if (this.#canRenew) return this.#renewAlone(used)
    if (tokens) throw this.#needed('the login has expired')
    if (!this.#options.oauth && !(await knowsOAuth(this.#options.url, this.#challenge))) return false
    throw this.#needed('login required')
  }

  async #renewAlone(used: string | undefined): Promise<true> {
    let denied: OAuthDenial | undefined
    await this.#update(async login => {
      // Another process was faster.
      if (login?.tokens && login.tokens.access_token !== used) return login
      if (!this.isInteractive) return this.#signIn(login)
      try {
        return await this.#grants.refreshed(login ?? {})
      } catch (error) {
        if (!(error instanceof OAuthDenial)) throw error
        denied = error
        const { tokens: _, ...rest } = login ?? {}
        return rest
      }
    })
    if (denied) throw this.#needed(`the login has expired or was revoked: ${(denied as OAuthDenial).message}`)
    return true
  }

  async #signIn(before: Login | undefined): Promise<Login> {
    const attempt = await this.#grants.attempt(before)
    await this.#grants.advance(attempt, this.#challenge ?? {})
    return attempt.login()
  }

  #needed(why: string, lacksScope = false): NeedsLoginError {
    return new NeedsLoginError(this.#options.name, { why, lacksScope })
  }

  /** Remembers for the next login which scope is missing. */
  async #lacking(): Promise<NeedsLoginError> {
    const scope = this.#challenge?.scope
    await this.#update(async login => ({ ...login, wanted: { scope } }))
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

/** Whether the token should be renewed. */
function isDue(tokens: NonNullable<Login['tokens']>): boolean {
  const lifeMs = (tokens.expires_in ?? 0) * 1_000
  return isOver(tokens, Math.min(RENEW_BEFORE_MS, lifeMs / 5))
}

/** Whether the token has expired, or will have in `inMs`. */
function isOver({ obtainedAt, expires_in: lifeS }: NonNullable<Login['tokens']>, inMs = 0): boolean {
  return lifeS !== undefined && Date.now() + inMs > obtainedAt + lifeS * 1_000
}

/** Unfinished logins, kept for a while; each answer is accepted only once. */
class PendingLogins {
  readonly #attempts = new Map<string, { attempt: LoginAttempt; until: number }>()

  add(attempt: LoginAttempt): void {
    removeFromLogs([attempt.id])
    this.#attempts.set(attempt.id, { attempt, until: Date.now() + LOGIN_TTL_MS })
    const [oldest] = this.#attempts.keys()
    if (this.#attempts.size > MAX_PENDING_LOGINS && oldest !== undefined) this.#attempts.delete(oldest)
  }

  has(state: string): boolean {
    return (this.#attempts.get(state)?.until ?? 0) > Date.now()
  }

  take(state: string): LoginAttempt {
    const { attempt } = this.#attempts.get(state) ?? {}
    if (!attempt || !this.has(state)) throw new Error('this login was not started here, or has expired')
    this.#attempts.delete(state)
    return attempt
  }
}

/** Keeps the secrets of the latest logins out of logs; older ones are worthless, and would only pile up. */
class RecentSecrets {
  readonly #known: string[][] = []

  add({ tokens, client }: Login): void {
    const { access_token = '', refresh_token = '', id_token = '' } = tokens ?? {}
    const secrets = [access_token, refresh_token, id_token, client?.client_secret ?? '']
    if (this.#known.at(-1)?.join() === secrets.join()) return
    this.#known.push(secrets)
    if (this.#known.length > REMEMBERED_LOGINS) forgetSecrets(this.#known.shift() ?? [])
    removeFromLogs(this.#known.flat())
  }
}

/**
 * Sends requests with the token of a login. One rejected for its token is sent again with another, since the server has not
 * processed it. Rejects with a NeedsLoginError if the user has to log in.
 */
export function authorizedFetch(login: ServerLogin): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    for (let renewals = 0; ; renewals++) {
      const token = await login.tokenFor(url)
      const headers = new Headers(init.headers)
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
      const response = await fetch(url, { ...init, headers })
      if (renewals === MAX_RENEWALS || !(await login.hasAnother(response, token))) return response
      await response.body?.cancel()
    }
  }
}
