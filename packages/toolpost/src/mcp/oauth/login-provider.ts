import { randomBytes } from 'node:crypto'
import type {
  AddClientAuthentication,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
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

/** One login, from its start to its tokens, as the SDK's `auth()` expects it. */
export interface LoginProvider extends OAuthClientProvider {
  /** The `state` parameter, which matches an answer to this login. */
  readonly id: string
  /** What is to be saved once there are tokens: a failed login leaves the previous one alone. */
  readonly login: Login
  /** The page where the user logs in. */
  page?: URL
  /** The client that was registered for this login, if it was. */
  registered?: StoredOAuthClientInformation
}

export function loginProvider(options: LoginProviderOptions): LoginProvider {
  const { serverUrl, oauth, redirectUrl, before, authenticate } = options
  const id = randomBytes(32).toString('base64url')
  const login: Login = {}
  let client = knownClient(oauth, before, redirectUrl)
  let verifier = ''
  const provider: LoginProvider = {
    id,
    login,
    redirectUrl,
    clientMetadata: {
      client_name: 'Toolpost',
      redirect_uris: redirectUrl ? [redirectUrl] : [],
      grant_types: redirectUrl ? ['authorization_code', 'refresh_token'] : ['client_credentials'],
      ...(redirectUrl && { response_types: ['code'], application_type: 'native' }),
      ...(oauth.scope !== undefined && { scope: oauth.scope }),
    },
    ...(oauth.clientMetadataUrl !== undefined && { clientMetadataUrl: oauth.clientMetadataUrl }),
    ...(authenticate && { addClientAuthentication: authenticate }),
    ...(redirectUrl === undefined && {
      prepareTokenRequest: scope =>
        new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) }),
    }),
    // A configured client must not be replaced by one a server hands out.
    ...(oauth.clientId === undefined && {
      saveClientInformation: given => {
        client = provider.registered = given
      },
    }),
    state: () => id,
    clientInformation: () => client,
    codeVerifier: () => verifier,
    discoveryState: () => login.discovery,
    // Existing tokens are renewed elsewhere.
    tokens: () => undefined,
    saveTokens(tokens) {
      Object.assign(login, { tokens, client })
    },
    saveResourceUrl(resource) {
      login.resource = resource
    },
    saveCodeVerifier(given) {
      removeFromLogs([given])
      verifier = given
    },
    redirectToAuthorization(url) {
      const problem = insecure(url, serverUrl)
      if (problem) throw new OAuthRefusal(`the login page ${problem}`)
      provider.page = url
    },
    saveDiscoveryState(state) {
      const issuer = checkedIssuer(state, oauth.issuer, redirectUrl !== undefined)
      Object.assign(login, { discovery: state, issuer })
    },
  }
  return provider
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
