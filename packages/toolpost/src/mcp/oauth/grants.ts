import type { AddClientAuthentication } from '@modelcontextprotocol/client'
import { removeFromLogs } from '../../logging/redact.ts'
import { loadSdk } from '../sdk-client.ts'
import { describeError } from '../server-failure.ts'
import type { Challenge } from './challenge.ts'
import type { Login } from './login.ts'
import { LoginAttempt } from './login-attempt.ts'
import { OAuthDenial, oauthFetch } from './oauth-fetch.ts'
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
