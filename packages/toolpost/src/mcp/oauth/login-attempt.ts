import { randomBytes } from 'node:crypto'
import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { removeFromLogs } from '../../logging/safe-value.ts'
import type { Login } from './login.ts'
import { insecure, OAuthRefusal } from './oauth-fetch.ts'
import type { OAuthOptions } from './oauth-options.ts'

export interface AttemptOptions {
  serverUrl: string
  oauth: OAuthOptions
  /** Where the person comes back to; without one, the program logs in itself. */
  redirectUrl?: string | undefined
  /** What is kept from before: a client that is registered already. */
  before: Login | undefined
  /** Signs in with a key. */
  authenticate?: AddClientAuthentication | undefined
}

/**
 * One login, from its beginning to its tokens, as the SDK's `auth()` wants it. Nothing of it is saved before it has
 * succeeded, so that one that fails leaves the login before it alone.
 */
export class LoginAttempt implements OAuthClientProvider {
  /** By which the answer is known. */
  readonly id = randomBytes(32).toString('base64url')
  readonly redirectUrl: string | undefined
  readonly clientMetadata: OAuthClientMetadata
  readonly clientMetadataUrl?: string
  readonly addClientAuthentication?: AddClientAuthentication
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => void
  readonly prepareTokenRequest?: (scope?: string) => URLSearchParams
  readonly #options: AttemptOptions
  /** Where the person has to go. */
  url: URL | undefined
  #client: StoredOAuthClientInformation | undefined
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
    // Only what was not configured may be replaced by what a server hands out.
    if (oauth.clientId === undefined)
      this.saveClientInformation = client => {
        this.#client = client
      }
  }

  state(): string {
    return this.id
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client
  }

  /** None: what was there before is renewed elsewhere. */
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

  /** What is to be kept, once there are tokens. */
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

/** As the specification wants it: a server that does not say that it supports PKCE is not used. */
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

/** Bound to the authorization server that was configured, or first used. */
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

/** Of an earlier login, if it comes back to the same address. */
function registeredClient({ before, redirectUrl }: AttemptOptions): StoredOAuthClientInformation | undefined {
  const uris = (before?.client as { redirect_uris?: unknown } | undefined)?.redirect_uris
  return Array.isArray(uris) && uris.includes(redirectUrl) ? before?.client : undefined
}

function clientCredentials(scope?: string): URLSearchParams {
  return new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) })
}
