import { randomBytes } from 'node:crypto'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { HistoryError } from '../history/database.ts'
import { FilterError } from '../history/query.ts'
import { longResults } from '../interceptors/long-results.ts'
import { safeText } from '../logging/safe-value.ts'
import { REDIRECT_PATH } from '../mcp/oauth/oauth-options.ts'
import { RpcError } from '../mcp/peer.ts'
import { describeError } from '../mcp/server-failure.ts'
import { ModelError } from '../models/model-error.ts'
import { accessProblems } from '../project/check.ts'
import { ConfigError, type ToolpostConfig } from '../project/config.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import { createGuard } from './clients.ts'
import { consoleFiles } from './console-files.ts'
import { contextOf, type GatewayContext, type GatewayOptions, sourceOf } from './context.ts'
import { type App, busy, failure, type GatewayEnv, refusal } from './http.ts'
import { DRAIN_MS } from './limits.ts'
import { METADATA_PATHS } from './oauth.ts'
import { addApprovalRoutes } from './routes/approvals.ts'
import { addCallRoutes } from './routes/calls.ts'
import { addChatRoutes, addTranscriptionRoutes } from './routes/chat.ts'
import { addHealthRoutes, HEALTH_PATH, READY_PATH } from './routes/health.ts'
import { addRunRoutes } from './routes/runs.ts'
import { addServerRoutes } from './routes/servers.ts'
import { addToolRoutes } from './routes/tools.ts'

/** Toolpost over HTTP, as a function from request to response: it needs no port. */
export interface Gateway {
  /** The owner's token; `undefined` if authentication is off. */
  readonly token: string | undefined
  /** Replaces the owner's token; the old one is no longer accepted. */
  setToken(token: string): void
  fetch(request: Request, env?: object): Response | Promise<Response>
  /** Accepts no new calls, waits up to `drainMs` for running ones, then ends them and every stream. */
  close(options?: { drainMs?: number }): Promise<void>
  /** Aborts the running calls now. */
  abort(): void
}

/** The gateway cannot start with these options. The message says what to do. */
export class GatewayError extends Error {
  override name = 'GatewayError'
}

/** Throws a GatewayError if clients could not be told apart, a token could be guessed, or an issuer not be trusted. */
export function createGateway(options: GatewayOptions): Gateway {
  const { token = randomBytes(24).toString('base64url'), bigResults } = options
  const source = sourceOf(options)
  checkAccess(source.config, token)
  const context = contextOf(options, source, token)
  const { clients, calls, questions, events, log, mcp } = context
  // A project's executor has it already.
  const stopResults = bigResults && source.executor.use(longResults(bigResults))
  const stopCheck = source.addCheck?.(config => checkAccess(config, clients.token))
  return {
    get token() {
      return clients.token || undefined
    },
    setToken: clients.setToken,
    fetch: createFetch(context, options),
    abort: () => calls.abort(),
    async close({ drainMs = DRAIN_MS } = {}) {
      await calls.drain(drainMs)
      stopResults?.()
      stopCheck?.()
      questions.close()
      events.close()
      await log.close()
      await mcp.close()
    },
  }
}

function checkAccess({ clients = {}, gateway }: ToolpostConfig = {}, token: string | false): void {
  const oauth = gateway?.oauth
  const needing = Object.keys(clients).length > 0 ? "'clients' need" : oauth && "'oauth' needs"
  if (token === false && needing) throw new GatewayError(`${needing} authentication: remove "token": false`)
  for (const { path, problem } of accessProblems(clients, token, oauth))
    throw new GatewayError(`${path.join('.')}: ${problem}`)
}

/** Errors that are the caller's mistake, or a server's. */
const STATUSES = [
  { type: FilterError, status: 400 },
  { type: ModelError, status: 400 },
  { type: ConfigError, status: 422 },
  { type: GatewayError, status: 422 },
  { type: RpcError, status: 404 },
  { type: ToolFailureError, status: 502 },
]

const PAGE_METHODS = ['GET', 'HEAD']
const METHODS = [...PAGE_METHODS, 'POST', 'PUT', 'PATCH', 'DELETE']
/** A browser returns from a login without a token; its answer is identified by its state. */
const OPEN_PATHS: readonly string[] = [REDIRECT_PATH, READY_PATH, HEALTH_PATH]

/** The guard sees every request first, then the routes. */
function createFetch(context: GatewayContext, options: GatewayOptions): Gateway['fetch'] {
  const { clients, mcp, events, oauth, logger } = context
  const files = consoleFiles(options.console)
  const isOpen = (path: string) =>
    OPEN_PATHS.includes(path) || path.startsWith('/.well-known/') || files.has(path)
  const app: App = new Hono<GatewayEnv>()
  const guard = createGuard(clients, isOpen, options.hosts)
  addToolRoutes(app, context)
  addServerRoutes(app, context)
  addCallRoutes(app, context)
  addRunRoutes(app, context)
  addApprovalRoutes(app, context)
  addChatRoutes(app, context)
  addTranscriptionRoutes(app, context)
  addHealthRoutes(app, context)
  for (const path of METADATA_PATHS) app.get(path, c => oauth.metadata(c))
  app.get('/api/events', c => events.subscribe(c))
  app.all('/mcp', c => mcp.handle(c))
  app.notFound(c => {
    const { method, path } = c.req
    if (PAGE_METHODS.includes(method) && files.has(path)) return files.answer(c.req.raw)
    const what = `${method} ${safeText(path, 200)}`
    const isRouted = (each: string) => app.router.match(each === 'HEAD' ? 'GET' : each, path)[0].length > 0
    const allowed = files.has(path) ? PAGE_METHODS : METHODS.filter(isRouted)
    if (allowed.length === 0) throw refusal(404, `Not found: ${what}`)
    throw refusal(405, `Method not allowed: ${what}`, { allow: allowed.join(', ') })
  })
  const answerTo = (error: Error) => {
    if (error instanceof HTTPException) return error.res ?? error.getResponse()
    if (error instanceof HistoryError) return busy(error.message).getResponse()
    const known = STATUSES.find(({ type }) => error instanceof type)
    if (known) return failure(known.status, describeError(error))
    logger.error({ error: safeText(error.message) }, 'Request failed')
    return failure(500, 'Internal error; see the log')
  }
  app.onError(answerTo)
  return async (request, given = {}) => {
    const env = given as GatewayEnv['Bindings']
    try {
      const client = await guard(request, env)
      if (client) env.client = client
    } catch (error) {
      return answerTo(error as Error)
    }
    return app.fetch(request, env)
  }
}
