/** How Toolpost logs in at a server: `oauth` of its entry. */
export interface OAuthOptions {
  /** `authorization_code` (a person logs in; the default) or `client_credentials` (the program itself does). */
  grant?: 'authorization_code' | 'client_credentials' | undefined
  /** A client that is registered already; left out, Toolpost registers itself if the server lets it. */
  clientId?: string | undefined
  clientSecret?: string | undefined
  /** A PKCS#8 key in PEM form, to sign in with instead of a secret (`private_key_jwt`). */
  privateKey?: string | undefined
  /** How the key signs: `ES256` if left out. */
  algorithm?: string | undefined
  /** What to ask for, separated by blanks; left out, what the server says. */
  scope?: string | undefined
  /** The only authorization server to trust; left out, the one that the server names at the first login. */
  issuer?: string | undefined
  /** An https address with a client metadata document, used as the client's id where the server takes that. */
  clientMetadataUrl?: string | undefined
  /** The port on 127.0.0.1 that a login comes back to; any free one if left out. */
  redirectPort?: number | undefined
}

/** Where a login comes back to, on whatever address. */
export const REDIRECT_PATH = '/oauth/callback'

/** Why a login cannot be made with these options; nothing if it can. */
export function oauthProblem(oauth: OAuthOptions | false | undefined): string | undefined {
  if (!oauth) return undefined
  const { grant, clientId, clientSecret, privateKey, clientMetadataUrl } = oauth
  const hasSecret = clientSecret !== undefined || privateKey !== undefined
  if (grant === 'client_credentials' && !(clientId && hasSecret))
    return "'oauth' with client_credentials needs 'clientId', and 'clientSecret' or 'privateKey'"
  if (hasSecret && clientId === undefined) return "'oauth' has a secret without a 'clientId'"
  if (clientMetadataUrl !== undefined && !/^https:\/\/[^/]+\/./.test(clientMetadataUrl))
    return "'oauth.clientMetadataUrl' must be an https address with a path"
  return undefined
}
