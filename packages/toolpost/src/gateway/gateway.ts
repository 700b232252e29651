import { randomBytes } from 'node:crypto'
import { Hono } from 'hono'
import type { ToolExecutor } from '../executor/executor.ts'
import type { History } from '../history/history.ts'
import type { Approvals } from '../interceptors/index.ts'
import { type BigResults, longResults } from '../interceptors/long-results.ts'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { REDIRECT_PATH } from '../mcp/oauth/oauth-options.ts'
import type { AiClient } from '../models/ai-client.ts'
import { clientProblems, oauthProblems } from '../project/check.ts'
import type { OAuthConfig } from '../project/config.ts'
import type { VoiceInput } from '../project/voice.ts'
import type { Clock } from '../util/clock.ts'
import type { ModelInfo } from './api-types.ts'
import { type ClientList, createGuard } from './clients.ts'
import { ConsoleFiles, findConsole } from './console-files.ts'
import {
  contextOf,
  type GatewayContext,
  type GatewayServers,
  type GatewaySource,
  oauthOf,
} from './context.ts'
import { type App, failure, type GatewayEnv } from './http.ts'
import { DRAIN_MS } from './limits.ts'
import { METADATA_PATHS } from './oauth.ts'
import { addApprovalRoutes } from './routes/approvals.ts'
import { addCallRoutes } from './routes/calls.ts'
import { addChatRoutes } from './routes/chat.ts'
import { addHealthRoutes, HEALTH_PATH, READY_PATH } from './routes/health.ts'
import { addRunRoutes } from './routes/runs.ts'
import { addServerRoutes } from './routes/servers.ts'
import { addToolRoutes } from './routes/tools.ts'
import { addTranscriptionRoutes } from './routes/transcriptions.ts'

export interface GatewayOptions {
  /** What a toolpost.json describes, from `openProject`. */
  project?: GatewaySource | undefined
  /** Without a project: its parts. */
  executor?: ToolExecutor | undefined
  mcp?: GatewayServers | undefined
  /** Answers the chat; without one, there is no chat. */
  client?: AiClient | undefined
  /** The client's name, and why it was chosen. */
  model?: ModelInfo | undefined
  /** Turns speech into text; without it, the console has no talk button. */
  voice?: VoiceInput | undefined
  /** Calls waiting for approval: the ones passed to `policy`. */
  approvals?: Approvals | undefined
  /** Calls kept in a file, from `openHistory`; without one, `/api/calls` has the last 1,000. */
  history?: History | undefined
  /** Keeps results too long for a model; without it, they are sent whole. The project's if there is one. */
  bigResults?: BigResults | undefined
  /** The system prompt of every conversation. */
  instructions?: string | undefined
  /** The owner's token: allows everything. A random one if left out; `false` lets everybody in as the owner. */
  token?: string | false | undefined
  /** Others with their own tokens, by name, and what they may use. The project's if left out. */
  clients?: ClientList | undefined
  /** Also accept access tokens of an OAuth issuer. The project's if left out. */
  oauth?: OAuthConfig | undefined
  /** Host names the gateway answers to, in addition to loopback. */
  hosts?: readonly string[] | undefined
  /** Calls that take longer are marked slow. */
  slowMs?: number | undefined
  /** The folder of the built console; found automatically if left out. */
  console?: string | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
}

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
  const { clock, bigResults } = options
  let token = options.token ?? randomBytes(24).toString('base64url')
  checkClients(options.clients ?? options.project?.config?.clients, token)
  checkOAuth(oauthOf(options), token)
  const context = contextOf(options, token)
  const { source, executor, clients, calls } = context
  const stops = [
    // A project's executor has it already.
    ...(bigResults ? [executor.use(longResults(bigResults))] : []),
    source.addCheck?.(config => checkClients(config.clients, token)) ?? (() => {}),
  ]
  return {
    get token() {
      return token || undefined
    },
    setToken(next) {
      token = next
      clients.setToken(next)
    },
    fetch: createFetch(context, options),
    abort: () => calls.abort(),
    async close({ drainMs = DRAIN_MS } = {}) {
      await calls.drain(drainMs, clock)
      for (const stop of stops) stop()
      context.questions.close()
      context.events.close()
      await context.log.close()
      await context.archive.close()
      await context.mcp.close()
    },
  }
}

function checkClients(clients: ClientList = {}, own: string | false): void {
  if (own === false && Object.keys(clients).length > 0)
    throw new GatewayError('\'clients\' need authentication: remove "token": false')
  const [found] = clientProblems(clients, own || undefined)
  if (found) throw new GatewayError(`${found.path.join('.')}: ${found.problem}`)
}

function checkOAuth(oauth: OAuthConfig | undefined, own: string | false): void {
  if (own === false && oauth) throw new GatewayError('\'oauth\' needs authentication: remove "token": false')
  const [found] = oauth ? oauthProblems(oauth) : []
  if (found) throw new GatewayError(`gateway.oauth.${found.path.join('.')}: ${found.problem}`)
}

const ROUTES = [
  ...[addToolRoutes, addServerRoutes, addCallRoutes, addRunRoutes, addApprovalRoutes],
  ...[addChatRoutes, addTranscriptionRoutes, addHealthRoutes],
]
const PAGE_METHODS = ['GET', 'HEAD']
const METHODS = [...PAGE_METHODS, 'POST', 'PUT', 'PATCH', 'DELETE']
/** A browser returns from a login without a token; its answer is identified by its state. */
const OPEN_PATHS: readonly string[] = [...METADATA_PATHS, REDIRECT_PATH, READY_PATH, HEALTH_PATH]

/** The guard sees every request first, then the routes. */
function createFetch(context: GatewayContext, options: GatewayOptions): Gateway['fetch'] {
  const { clients, mcp, logger } = context
  const files = new ConsoleFiles(options.console ?? findConsole())
  const app: App = new Hono<GatewayEnv>()
  for (const addRoutes of ROUTES) addRoutes(app, context)
  for (const path of METADATA_PATHS) app.get(path, c => context.oauth.metadata(c.req.raw))
  app.get('/api/events', c => context.events.subscribe(c))
  app.all('/mcp', c => mcp.handle(c))
  app.notFound(c => {
    const { method, path } = c.req
    if (PAGE_METHODS.includes(method) && files.has(path)) return files.answer(c.req.raw)
    const what = `${method} ${safeText(path, 200)}`
    const isRouted = (each: string) => app.router.match(each === 'HEAD' ? 'GET' : each, path)[0].length > 0
    const allowed = files.has(path) ? PAGE_METHODS : METHODS.filter(isRouted)
    if (allowed.length === 0) return failure(404, `Not found: ${what}`)
    return failure(405, `Method not allowed: ${what}`, { allow: allowed.join(', ') })
  })
  app.onError(error => {
    logger.error({ error: safeText(error.message) }, 'Request failed')
    return failure(500, 'Internal error; see the log')
  })
  const isOpen = (path: string) => OPEN_PATHS.includes(path) || files.has(path)
  const guard = createGuard(clients, isOpen, options.hosts)
  return (request, env = {}) => {
    const answer = (client: Awaited<ReturnType<typeof guard>>) =>
      client instanceof Response ? client : app.fetch(request, Object.assign(env, { client }))
    const found = guard(request, env)
    return found instanceof Promise ? found.then(answer) : answer(found)
  }
}
