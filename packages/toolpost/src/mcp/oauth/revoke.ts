import { loadSdk } from '../sdk-client.ts'
import type { Login } from './login.ts'
import { oauthFetch } from './oauth-fetch.ts'

/** Revokes the tokens of a login; resolves to whether the authorization server accepted that. */
export async function revoke({ tokens, discovery, client }: Login, serverUrl: string): Promise<boolean> {
  const metadata = discovery?.authorizationServerMetadata
  const endpoint = (metadata as { revocation_endpoint?: unknown } | undefined)?.revocation_endpoint
  if (typeof endpoint !== 'string' || !tokens || !client) return false
  const { selectClientAuthMethod } = await loadSdk()
  const { client_id: id, client_secret: secret = '' } = client
  const method = selectClientAuthMethod(client, metadata?.token_endpoint_auth_methods_supported ?? [])
  const isBasic = method === 'client_secret_basic'
  const send = (token: string, hint: string) =>
    oauthFetch(serverUrl).fetch(endpoint, {
      method: 'POST',
      headers: isBasic ? { authorization: `Basic ${basic(id, secret)}` } : {},
      body: new URLSearchParams({
        token,
        token_type_hint: hint,
        ...(!isBasic && { client_id: id }),
        ...(method === 'client_secret_post' && { client_secret: secret }),
      }),
    })
  try {
    if (tokens.refresh_token !== undefined) await send(tokens.refresh_token, 'refresh_token')
    await send(tokens.access_token, 'access_token')
    return true
  } catch {
    // The login is deleted here anyway, and the caller says so.
    return false
  }
}

function basic(id: string, secret: string): string {
  return Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
}
