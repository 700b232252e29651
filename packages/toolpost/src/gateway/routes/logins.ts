import type { Hono } from 'hono'
import { REDIRECT_PATH } from '../../mcp/oauth/oauth-options.ts'
import { finishedPage } from '../../mcp/oauth/redirect-server.ts'
import { describeError } from '../../mcp/server-failure.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure, json } from '../http/answers.ts'
import { hostOf } from '../http/guard.ts'

/** Logins to MCP servers: the page for the user to open, and where the browser returns to. */
export function addLoginRoutes(app: Hono, { source, clients }: GatewayContext): void {
  app.post('/api/servers/:name/login', async c => {
    const name = c.req.param('name')
    if (clients.of(c.req.raw).isNamed) return failure(403, 'Named clients may not log in to servers')
    const login = source.logins?.()?.of(name)
    if (!login) return failure(404, `No server '${name}' to log in to`)
    try {
      if (login.isInteractive) return json({ url: await login.begin(ownAddress(c.req.raw) + REDIRECT_PATH) })
      await login.signIn()
      return json({})
    } catch (error) {
      return failure(502, `Cannot log in to '${name}': ${describeError(error)}`)
    }
  })
  app.get(REDIRECT_PATH, c => {
    const logins = source.logins?.()
    const finish = async (answer: URLSearchParams) => {
      if (!logins) throw new Error('No server to log in to')
      return logins.finish(answer)
    }
    return finishedPage(new URL(c.req.url).searchParams, finish, '/')
  })
}

/** As the browser sees it; the guard has checked both headers. */
function ownAddress(request: Request): string {
  return request.headers.get('origin') ?? `http://${hostOf(request)}`
}
