/** How Toolpost logs in to a server: `oauth` of its entry. */
export interface OAuthOptions {
  /** `authorization_code` (the user logs in; the default) or `client_credentials` (the program itself does). */
  grant?: 'authorization_code' | 'client_credentials' | undefined
  /** A client that is already registered; if left out, Toolpost registers itself if the server allows it. */
  clientId?: string | undefined
  clientSecret?: string | undefined
  /** A PKCS#8 key in PEM format, to authenticate with instead of a secret (`private_key_jwt`). */
  privateKey?: string | undefined
  /** The signature algorithm; `ES256` if left out. */
  algorithm?: string | undefined
  /** The scopes to request, separated by spaces; if left out, those the server names. */
  scope?: string | undefined
  /** The only authorization server to trust; if left out, the one the server names at the first login. */
  issuer?: string | undefined
  /** The https URL of a client metadata document, used as the client id if the server supports that. */
  clientMetadataUrl?: string | undefined
  /** The port on 127.0.0.1 that a login is redirected to; any free one if left out. */
  redirectPort?: number | undefined
}

/** The path that a login is redirected to, whatever the host. */
export const REDIRECT_PATH = '/oauth/callback'

/** Why these options cannot be used; `undefined` if they can. */
export function oauthProblem(oauth: OAuthOptions | false | undefined): string | undefined {
  if (!oauth) return undefined
  const { grant, clientId, clientSecret, privateKey, clientMetadataUrl } = oauth
  const hasSecret = clientSecret !== undefined || privateKey !== undefined
  if (grant === 'client_credentials' && !(clientId && hasSecret))
    return "'oauth' with client_credentials needs 'clientId', and 'clientSecret' or 'privateKey'"
  if (hasSecret && clientId === undefined) return "'oauth' has a secret without a 'clientId'"
  if (clientMetadataUrl !== undefined && !/^https:\/\/[^/]+\/./.test(clientMetadataUrl))
    return "'oauth.clientMetadataUrl' must be an https URL with a path"
  return undefined
}
