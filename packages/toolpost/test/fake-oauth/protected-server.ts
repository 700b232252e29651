import { Hono } from 'hono'
import type { FakeOAuthOptions } from './fake-oauth.ts'
import type { Grants } from './grants.ts'

interface Parts {
  url: string
  issuer: string
  grants: Grants
  options: FakeOAuthOptions
}

interface Message {
  id?: string | number
  method: string
  params?: { protocolVersion?: string; name?: string; arguments?: { text?: string } }
}

const TOOLS = ['echo', 'write', 'slow', 'admin'].map(name => ({
  name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: name === 'echo' },
}))

/** An MCP server over HTTP that requires a token from its authorization server, issued for this resource. */
export function protectedServer(parts: Parts): Hono {
  const { url, issuer, grants, options } = parts
  const { lies = {}, noResourceMetadata } = options
  const path = '/.well-known/oauth-protected-resource/mcp'
  const app = new Hono()
  if (!noResourceMetadata)
    app.get(path, c =>
      c.json({
        resource: lies.resource ?? `${url}/mcp`,
        authorization_servers: [lies.authorizationServer ?? issuer],
      }),
    )
  app.post('/mcp', async c => {
    if (lies.serverRedirect) return c.redirect(lies.serverRedirect, 307)
    const grant = grants.of(/^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1] ?? '')
    const where = noResourceMetadata ? '' : ` resource_metadata="${url}${path}"`
    const scope = options.scope === undefined ? '' : `, scope="${options.scope}"`
    if (!grant || (grant.resource !== '' && grant.resource !== `${url}/mcp`))
      return c.text('log in first', 401, { 'www-authenticate': `Bearer${where}${scope}` })
    const message = await c.req.json<Message>()
    const tool = message.params?.name
    if (tool === 'admin' && !grant.scope.split(' ').includes('admin'))
      return c.text('not enough', 403, {
        'www-authenticate': `Bearer error="insufficient_scope", scope="admin"${where && `,${where}`}`,
      })
    if (message.id === undefined) return c.body(null, 202)
    const result = await answer(message, grants)
    if (!result) return c.json({ jsonrpc: '2.0', id: message.id, error: { code: -32_601, message: 'no' } })
    return c.json({ jsonrpc: '2.0', id: message.id, result })
  })
  return app
}

async function answer({ method, params = {} }: Message, grants: Grants): Promise<object | undefined> {
  const { protocolVersion, name = '' } = params
  const serverInfo = { name: 'protected', version: '1' }
  if (method === 'initialize') return { protocolVersion, capabilities: { tools: {} }, serverInfo }
  if (method === 'tools/list') return { tools: TOOLS }
  if (method === 'ping') return {}
  if (method !== 'tools/call') return undefined
  grants.calls.push(name)
  if (name === 'slow') {
    grants.noteSlow()
    await grants.released
  }
  return { content: [{ type: 'text', text: params.arguments?.text ?? name }] }
}
