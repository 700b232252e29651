import { loadSdk } from '../sdk-client.ts'
import { OAUTH_TIMEOUT_MS } from './limits.ts'
import { OAuthRefusal, oauthFetch } from './oauth-fetch.ts'

/** What a server says when it rejects a request for lack of a login or scope. */
export interface Challenge {
  scope?: string | undefined
  resourceMetadataUrl?: URL | undefined
  error?: string | undefined
}

export async function challengeIn(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await loadSdk()
  return extractWWWAuthenticateParams(response)
}

/** Sends a harmless request to learn how to log in to a server; `undefined` if it does not say. */
export async function askForChallenge(url: string): Promise<Challenge | undefined> {
  const response = await fetch(withoutCredentials(url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":0,"method":"ping"}',
    redirect: 'manual',
    signal: AbortSignal.timeout(OAUTH_TIMEOUT_MS),
  })
  await response.body?.cancel()
  return response.status === 401 ? challengeIn(response) : undefined
}

/** Fetch rejects credentials in a URL. */
function withoutCredentials(url: string): URL {
  const bare = new URL(url)
  bare.username = bare.password = ''
  return bare
}

/** Whether a server supports logging in at all. Throws if its metadata cannot be trusted. */
export async function knowsOAuth(url: string, challenge: Challenge = {}): Promise<boolean> {
  const { discoverOAuthServerInfo, checkResourceAllowed } = await loadSdk()
  const { resourceMetadataUrl } = challenge
  const channel = oauthFetch(url)
  const found = await discoverOAuthServerInfo(url, {
    fetchFn: channel.fetch,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  }).finally(() => channel.check())
  const { resourceMetadata, authorizationServerMetadata } = found
  const resource = resourceMetadata?.resource
  if (
    resource !== undefined &&
    !checkResourceAllowed({ requestedResource: url, configuredResource: resource })
  )
    throw new OAuthRefusal(`the server's metadata describes another resource: ${resource}`)
  return resourceMetadata !== undefined || authorizationServerMetadata !== undefined
}
