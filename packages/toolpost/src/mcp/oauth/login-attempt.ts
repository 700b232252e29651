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

export interface AttemptOptions {
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
export class LoginAttempt implements OAuthClientProvider {
  /** The `state` parameter, which matches an answer to this attempt. */
  readonly id = randomBytes(32).toString('base64url')
  readonly redirectUrl: string | undefined
  readonly clientMetadata: OAuthClientMetadata
  readonly clientMetadataUrl?: string
  readonly addClientAuthentication?: AddClientAuthentication
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => void
  readonly prepareTokenRequest?: (scope?: string) => URLSearchParams
  readonly #options: AttemptOptions
  /** The page where the user logs in. */
  url: URL | undefined
  #client: StoredOAuthClientInformation | undefined
  #isRegistered = false
  #verifier = ''
  #discovery: OAuthDiscoveryState | undefined
  #resource: string | undefined
  #tokens: StoredOAuthTokens | undefined

  constructor(options: AttemptOptions) {
    const { oauth, redirectUrl, authenticate } = options
    this.#options = options
    this.redirectUrl = redirectUrl
    this.clientMetadata = metadataOf(oauth, redirectUrl)
    this.#client = configuredClient(options) ?? registeredClient(options)
    if (oauth.clientMetadataUrl !== undefined) this.clientMetadataUrl = oauth.clientMetadataUrl
    if (authenticate) this.addClientAuthentication = authenticate
    if (redirectUrl === undefined) this.prepareTokenRequest = clientCredentials
    // A configured client must not be replaced by one a server hands out.
    if (oauth.clientId === undefined)
      this.saveClientInformation = client => {
        this.#client = client
        this.#isRegistered = true
      }
  }

  state(): string {
    return this.id
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client
  }

  /** None: existing tokens are renewed elsewhere. */
  tokens(): undefined {
    return undefined
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens
  }

  redirectToAuthorization(url: URL): void {
    const problem = insecure(url, this.#options.serverUrl)
    if (problem) throw new OAuthRefusal(`the login page ${problem}`)
    this.url = url
  }

  saveCodeVerifier(verifier: string): void {
    removeFromLogs([verifier])
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    const { oauth, redirectUrl } = this.#options
    checkIssuer(issuerOf(state), oauth.issuer)
    if (redirectUrl !== undefined) checkPkce(state)
    this.#discovery = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource
  }

  /** The client that was registered for this login, if it was. */
  get registered(): StoredOAuthClientInformation | undefined {
    return this.#isRegistered ? this.#client : undefined
  }

  /** The finished login, once there are tokens. */
  login(): Login {
    if (!this.#tokens || !this.#discovery) throw new Error('The login is not finished')
    return {
      issuer: issuerOf(this.#discovery),
      tokens: { ...this.#tokens, obtainedAt: Date.now() },
      discovery: this.#discovery,
      ...(this.#client && { client: this.#client }),
      ...(this.#resource !== undefined && { resource: this.#resource }),
    }
  }
}

function issuerOf(state: OAuthDiscoveryState): string {
  return state.authorizationServerMetadata?.issuer ?? state.authorizationServerUrl
}

function checkIssuer(named: string, expected: string | undefined): void {
  if (expected === undefined || withoutSlash(named) === withoutSlash(expected)) return
  throw new OAuthRefusal(`the server names ${named} as its authorization server; expected ${expected}`)
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '')
}

/** As the specification requires: a server that does not declare PKCE support is not used. */
function checkPkce({ authorizationServerMetadata: metadata }: OAuthDiscoveryState): void {
  if (!metadata || metadata.code_challenge_methods_supported?.includes('S256')) return
  throw new OAuthRefusal(`the authorization server ${metadata.issuer} does not support PKCE with S256`)
}

function metadataOf({ scope }: OAuthOptions, redirectUrl: string | undefined): OAuthClientMetadata {
  const grants = redirectUrl ? ['authorization_code', 'refresh_token'] : ['client_credentials']
  return {
    client_name: 'Toolpost',
    redirect_uris: redirectUrl ? [redirectUrl] : [],
    grant_types: grants,
    ...(redirectUrl && { response_types: ['code'], application_type: 'native' }),
    ...(scope !== undefined && { scope }),
  }
}

/** Bound to the authorization server configured, or first used. */
function configuredClient({ oauth, before }: AttemptOptions): StoredOAuthClientInformation | undefined {
  const { clientId, clientSecret } = oauth
  if (clientId === undefined) return undefined
  const issuer = oauth.issuer ?? before?.issuer
  return {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(issuer !== undefined && { issuer }),
  }
}

/** The client of an earlier login, finished or not, if it was registered with the same redirect URL. */
function registeredClient({ before, redirectUrl }: AttemptOptions): StoredOAuthClientInformation | undefined {
  return [before?.client, before?.registered].find(client => {
    const uris = (client as { redirect_uris?: unknown } | undefined)?.redirect_uris
    return Array.isArray(uris) && uris.includes(redirectUrl)
  })
}

function clientCredentials(scope?: string): URLSearchParams {
  return new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) })
}
