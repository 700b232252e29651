import { type Context, Hono } from 'hono'
import type { FakeOAuthOptions } from './fake-oauth.ts'
import type { Grants } from './grants.ts'

/** Authorization code with PKCE, refresh, client credentials and registration. */
export function authorizationServer(url: string, grants: Grants, options: FakeOAuthOptions): Hono {
  const app = new Hono()
  app.get('/.well-known/oauth-authorization-server', c => metadata(c, url, options))
  app.post('/register', async c => {
    grants.asked.push('register')
    const client = await c.req.json<{ redirect_uris: string[] }>()
    const { id, secret } = grants.register(client.redirect_uris)
    return c.json({ ...client, client_id: id, client_secret: secret }, 201)
  })
  app.get('/authorize', c => authorize(c, url, { grants, options }))
  app.post('/token', async c => token(c, await c.req.parseBody<Record<string, string>>(), grants))
  return app
}

function metadata(c: Context, url: string, { lies = {} }: FakeOAuthOptions): Response {
  if (lies.metadata === 'endless') return endless()
  if (lies.metadata) return c.redirect(lies.metadata.redirect)
  return c.json({
    issuer: lies.issuer ?? url,
    authorization_endpoint: lies.authorizationEndpoint ?? `${url}/authorize`,
    token_endpoint: lies.tokenEndpoint ?? `${url}/token`,
    registration_endpoint: `${url}/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    ...(!lies.noPkce && { code_challenge_methods_supported: ['S256'] }),
    authorization_response_iss_parameter_supported: true,
  })
}

function endless(): Response {
  const chunk = new TextEncoder().encode(`{"issuer":"${'x'.repeat(64 * 1024)}`)
  const body = new ReadableStream({ pull: controller => controller.enqueue(chunk) })
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

interface Parts {
  grants: Grants
  options: FakeOAuthOptions
}

/** The person at this page agrees immediately. */
function authorize(c: Context, url: string, { grants, options }: Parts): Response {
  grants.asked.push('authorize')
  const asked = c.req.query()
  const { client_id: clientId = '', redirect_uri: redirectUri = '', scope = '', resource = '' } = asked
  const client = grants.clients.get(clientId)
  const isKnown = client && (client.redirectUris?.includes(redirectUri) ?? true)
  if (!isKnown || asked.code_challenge_method !== 'S256') return c.text('invalid request', 400)
  const back = new URL(redirectUri)
  back.searchParams.set('state', options.lies?.state ?? asked.state ?? '')
  back.searchParams.set('iss', options.lies?.iss ?? url)
  const code = { clientId, scope, resource, challenge: asked.code_challenge ?? '', redirectUri }
  back.searchParams.set('code', grants.code(code))
  return c.redirect(back.href)
}

function token(c: Context, form: Record<string, string>, grants: Grants): Response {
  const { grant_type: kind = '', code = '', code_verifier = '', redirect_uri = '', refresh_token = '' } = form
  grants.asked.push(kind)
  const clientId = authenticated(c, form, grants)
  if (clientId === undefined) return c.json({ error: 'invalid_client' }, 401)
  if (kind === 'client_credentials') {
    const { scope = '', resource = '' } = form
    return c.json(grants.tokens({ clientId, scope, resource }, false))
  }
  const grant =
    kind === 'refresh_token' ? grants.rotate(refresh_token) : grants.redeem(code, code_verifier, redirect_uri)
  if (grant?.clientId !== clientId) return c.json({ error: 'invalid_grant' }, 400)
  return c.json(grants.tokens(grant, true))
}

/** The client's id, if its secret is right. */
function authenticated(c: Context, form: Record<string, string>, { clients }: Grants): string | undefined {
  const [, basic = ''] = /^Basic (.+)$/.exec(c.req.header('authorization') ?? '') ?? []
  const [id = '', secret = ''] = basic
    ? Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
    : [form.client_id, form.client_secret]
  return clients.get(id)?.secret === secret ? id : undefined
}
