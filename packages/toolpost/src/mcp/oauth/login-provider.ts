import { randomBytes } from 'node:crypto'
import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { removeFromLogs } from '../../logging/redact.ts'
import type { Login } from './login-store.ts'
import { insecure, OAuthRefusal } from './oauth-fetch.ts'
import type { OAuthOptions } from './oauth-options.ts'

export interface LoginProviderOptions {
  serverUrl: string
  oauth: OAuthOptions
  /** Where the browser is redirected to; without one, the program uses its own credentials. */
  redirectUrl?: string | undefined
  /** The previous login, which may have a registered client. */
  before: Login | undefined
  /** Authenticates with a key. */
  authenticate?: AddClientAuthentication | undefined
}

/**
 * One login, from its start to its tokens, as the SDK's `auth()` expects it. Nothing is saved before it has succeeded, so
 * that a failed one leaves the previous login alone.
 */
export class LoginProvider implements OAuthClientProvider {
  /** The `state` parameter, which matches an answer to this login. */
  readonly id = randomBytes(32).toString('base64url')
  readonly redirectUrl: string | undefined
  readonly clientMetadata: OAuthClientMetadata
  readonly clientMetadataUrl?: string
  readonly addClientAuthentication?: AddClientAuthentication
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => void
  readonly prepareTokenRequest?: (scope?: string) => URLSearchParams
  readonly #options: LoginProviderOptions
  /** The page where the user logs in. */
  page: URL | undefined
  /** The client that was registered for this login, if it was. */
  registered: StoredOAuthClientInformation | undefined
  #client: StoredOAuthClientInformation | undefined
  #verifier = ''
  #discovery: OAuthDiscoveryState | undefined
  #resource: string | undefined
  #tokens: StoredOAuthTokens | undefined

  constructor(options: LoginProviderOptions) {
    const { oauth, redirectUrl, authenticate } = options
    this.#options = options
    this.redirectUrl = redirectUrl
    this.clientMetadata = {
      client_name: 'Toolpost',
      redirect_uris: redirectUrl ? [redirectUrl] : [],
      grant_types: redirectUrl ? ['authorization_code', 'refresh_token'] : ['client_credentials'],
      ...(redirectUrl && { response_types: ['code'], application_type: 'native' }),
      ...(oauth.scope !== undefined && { scope: oauth.scope }),
    }
    this.#client = knownClient(options)
    if (oauth.clientMetadataUrl !== undefined) this.clientMetadataUrl = oauth.clientMetadataUrl
    if (authenticate) this.addClientAuthentication = authenticate
    if (redirectUrl === undefined)
      this.prepareTokenRequest = scope =>
        new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) })
    // A configured client must not be replaced by one a server hands out.
    if (oauth.clientId === undefined)
      this.saveClientInformation = client => {
        this.#client = this.registered = client
      }
  }

  state = (): string => this.id
  clientInformation = (): StoredOAuthClientInformation | undefined => this.#client
  codeVerifier = (): string => this.#verifier
  discoveryState = (): OAuthDiscoveryState | undefined => this.#discovery
  /** None: existing tokens are renewed elsewhere. */
  tokens = (): undefined => undefined

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource
  }

  saveCodeVerifier(verifier: string): void {
    removeFromLogs([verifier])
    this.#verifier = verifier
  }

  redirectToAuthorization(url: URL): void {
    const problem = insecure(url, this.#options.serverUrl)
    if (problem) throw new OAuthRefusal(`the login page ${problem}`)
    this.page = url
  }

  /** As the specification requires, an authorization server that does not declare PKCE support is not used. */
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    const { oauth, redirectUrl } = this.#options
    const issuer = issuerOf(state)
    if (oauth.issuer !== undefined && withoutSlash(issuer) !== withoutSlash(oauth.issuer))
      throw new OAuthRefusal(
        `the server names ${issuer} as its authorization server; expected ${oauth.issuer}`,
      )
    const methods = state.authorizationServerMetadata?.code_challenge_methods_supported
    if (redirectUrl !== undefined && state.authorizationServerMetadata && !methods?.includes('S256'))
      throw new OAuthRefusal(`the authorization server ${issuer} does not support PKCE with S256`)
    this.#discovery = state
  }

  /** The finished login, once there are tokens. */
  login(): Login {
    if (!this.#tokens || !this.#discovery) throw new Error('The login is not finished')
    return {
      issuer: issuerOf(this.#discovery),
      tokens: this.#tokens,
      discovery: this.#discovery,
      ...(this.#client && { client: this.#client }),
      ...(this.#resource !== undefined && { resource: this.#resource }),
    }
  }
}

function issuerOf(state: OAuthDiscoveryState): string {
  return state.authorizationServerMetadata?.issuer ?? state.authorizationServerUrl
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '')
}

/** The configured client, bound to the authorization server configured or first used; else one registered before. */
function knownClient({
  oauth,
  before,
  redirectUrl,
}: LoginProviderOptions): StoredOAuthClientInformation | undefined {
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
