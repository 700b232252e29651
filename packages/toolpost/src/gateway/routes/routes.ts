import { Hono, type HonoRequest } from 'hono'
import { safeText } from '../../logging/safe-value.ts'
import { REDIRECT_PATH } from '../../mcp/oauth/oauth-options.ts'
import type { ConsoleFiles } from '../console-files.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { failure } from '../http/answers.ts'
import { waitedForTurnMs } from '../http/in-turn.ts'
import { METADATA_PATHS } from '../oauth/challenge.ts'
import { addAddServerRoute } from './add-server.ts'
import { addApprovalRoutes } from './approvals.ts'
import { addCallRoutes } from './calls.ts'
import { addChatRoutes } from './chat.ts'
import { addConversationRoutes } from './conversations.ts'
import { addHealthRoutes, HEALTH_PATH, READY_PATH } from './health.ts'
import { addLoginRoutes } from './logins.ts'
import { addOfferRoutes } from './offers.ts'
import { addOpenApiRoute } from './openapi.ts'
import { addQuestionRoutes } from './questions.ts'
import { addResultRoutes } from './results.ts'
import { addRunRoutes } from './runs.ts'
import { addServerRoutes } from './servers.ts'
import { addToolRoutes } from './tools.ts'
import { addTranscriptionRoutes } from './transcriptions.ts'

export const PAGE_METHODS = ['GET', 'HEAD']
/** A browser returns from a login without a token; its answer is identified by its state. */
export const OPEN_PATHS: readonly string[] = [...METADATA_PATHS, REDIRECT_PATH, READY_PATH, HEALTH_PATH]
const METHODS = [...PAGE_METHODS, 'POST', 'PUT', 'PATCH', 'DELETE']

/** Every route except the page's own files. */
export function createRoutes(context: GatewayContext, files: ConsoleFiles): Hono {
  const app = new Hono()
  addToolRoutes(app, context)
  addServerRoutes(app, context)
  addAddServerRoute(app, context)
  addOfferRoutes(app, context)
  addLoginRoutes(app, context)
  addCallRoutes(app, context)
  addResultRoutes(app, context)
  addRunRoutes(app, context)
  addApprovalRoutes(app, context)
  addQuestionRoutes(app, context)
  addChatRoutes(app, context)
  addConversationRoutes(app, context)
  addTranscriptionRoutes(app, context)
  addHealthRoutes(app, context)
  addOpenApiRoute(app, context)
  for (const path of METADATA_PATHS)
    app.get(path, c => context.clients.metadata(c.req.raw) ?? failure(404, 'No OAuth issuer is configured'))
  app.all('/mcp', c => {
    const startedAt = context.executor.clock.now() - waitedForTurnMs(c)
    return context.mcp.handle(c.req.raw, context.clients.of(c.req.raw), startedAt)
  })
  app.notFound(c => notFound(c.req, allowedMethods(app, files, c.req.path)))
  app.onError(error => {
    context.logger.error({ error: safeText(error.message) }, 'Request failed')
    return failure(500, 'Internal error; see the log')
  })
  return app
}

function notFound({ method, path }: HonoRequest, allowed: readonly string[]): Response {
  const what = `${method} ${safeText(path, 200)}`
  if (allowed.length === 0) return failure(404, `Not found: ${what}`)
  return failure(405, `Method not allowed: ${what}`, { allow: allowed.join(', ') })
}

/** By hand, and only if nothing was found: Hono's `methodNotAllowed` would run on every call. */
function allowedMethods(app: Hono, files: ConsoleFiles, path: string): readonly string[] {
  if (files.has(path)) return PAGE_METHODS
  const isRouted = (method: string) => app.router.match(method, path)[0].length > 0
  return METHODS.filter(method => isRouted(method === 'HEAD' ? 'GET' : method))
}
