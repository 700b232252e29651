import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { getPath } from 'hono/utils/url'
import type { OAuthConfig } from '../project/config.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import { DEFAULT_SLOW_MS } from '../executor/options.ts'
import type { History } from '../history/history.ts'
import type { Approvals } from '../interceptors/index.ts'
import { longResults } from '../interceptors/long-results.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { VoiceInput } from '../project/voice.ts'
import type { Clock } from '../runtime/clock.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import { ActiveCalls } from './active-calls.ts'
import type { ModelInfo } from './api-types.ts'
import { CallJournal } from './call-journal.ts'
import { CallerFigures } from './caller-figures.ts'
import { ChatArchive } from './chat/chat-archive.ts'
import { ChatConversations } from './chat-conversations.ts'
import type { ClientList } from './client.ts'
import { Clients } from './clients.ts'
import { ConsoleFiles, findConsole } from './console-files.ts'
import { EventHub } from './event-hub.ts'
import { CallsUnderWay, followCalls } from './follow-calls.ts'
import type { GatewayContext, GatewaySource } from './gateway-context.ts'
import { type GatewayServers, sourceOf } from './gateway-source.ts'
import { createGuard } from './http/guard.ts'
import { DRAIN_MS } from './limits.ts'
import { checkGatewayClients, checkGatewayOAuth } from './listen-address.ts'
import { createMcpEndpoint } from './mcp-server/http-endpoint.ts'
import { OAuthClients } from './oauth/oauth-clients.ts'
import { Questions } from './questions.ts'
import { createRoutes, OPEN_PATHS, PAGE_METHODS } from './routes/routes.ts'
import { tellOfChanges } from './tell-of-changes.ts'
import { traceUrlOf } from './trace-url.ts'

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

const DEFAULT_INSTRUCTIONS =
  'Use the tools for what they can do or know, instead of guessing. Answer in a few short sentences.'

export function createGateway(given: GatewayOptions): Gateway {
  const options = { ...given, token: given.token ?? randomBytes(24).toString('base64url') }
  const context = contextOf(options)
  let { token } = options
  const { events, calls, mcp, questions } = context
  const stops = [
    ...followCalls(context, options.clock),
    ...tellOfChanges(context, options.clock),
    // A project's executor has it already.
    ...(options.bigResults ? [context.executor.use(longResults(options.bigResults))] : []),
    context.source.addCheck?.(({ clients }) => checkGatewayClients(clients, token)) ?? (() => {}),
  ]
  const app = createApp(context, options)
  return {
    get token() {
      return token || undefined
    },
    setToken(next) {
      token = next
      context.clients.setToken(next)
    },
    fetch: (request, env) => app(request, env ?? {}),
    abort: () => calls.abort(),
    async close({ drainMs = DRAIN_MS } = {}) {
      await calls.drain(drainMs, options.clock)
      for (const stop of stops) stop()
      questions.close()
      events.close()
      await context.archive.close()
      await mcp.close()
    },
  }
}

function contextOf(options: GatewayOptions & { token: string | false }): GatewayContext {
  const { slowMs = DEFAULT_SLOW_MS, clock } = options
  const logger = quietLogger(options.logger)
  const source = sourceOf(options)
  const { executor } = source
  const calls = new ActiveCalls()
  const list = () => options.clients ?? source.config?.clients
  checkGatewayClients(list(), options.token)
  checkGatewayOAuth(oauthOf(options), options.token)
  const oauth = new OAuthClients({ tools: executor.tools, config: () => oauthOf(options), logger })
  const clients = new Clients({ tools: executor.tools, token: options.token, list, oauth })
  return {
    executor,
    source,
    clients,
    callers: new CallerFigures(() => clients.names()),
    instructions: options.instructions ?? DEFAULT_INSTRUCTIONS,
    calls,
    journal: new CallJournal({
      tools: executor.tools,
      slowMs,
      traceUrl: traceId => traceUrlOf(source, traceId),
    }),
    underWay: new CallsUnderWay(),
    conversations: new ChatConversations(),
    archive: new ChatArchive({
      folder: () => conversationsFolder(source),
      onProblem: error => logger.warn({ error: safeText(String(error)) }, 'Could not save a conversation'),
    }),
    events: new EventHub({ clock }),
    questions: new Questions({ clock }),
    mcp: createMcpEndpoint({
      ...{ executor, calls, clients, source, logger },
      catalog: source.catalog,
      results: source.bigResults,
      offer: () => ({ ...source.config?.models, toolSearch: source.config?.gateway?.toolSearch }),
    }),
    logger,
  }
}

/** Next to the history; without one, conversations are not saved to disk. */
function conversationsFolder({ history }: GatewaySource): string | undefined {
  const file = history?.()?.status().file
  return file === undefined ? undefined : join(dirname(file), 'conversations')
}

/** Read again when the configuration changes. */
export function oauthOf({ oauth, project }: GatewayOptions): OAuthConfig | undefined {
  return oauth ?? project?.config?.gateway?.oauth
}

/** The guard sees every request first. */
function createApp(context: GatewayContext, options: GatewayOptions): Gateway['fetch'] {
  const files = new ConsoleFiles(options.console ?? findConsole())
  const guard = createGuard({ hosts: options.hosts, clients: context.clients })
  const routes = createRoutes(context, files)
  return (request, env) => {
    const path = PAGE_METHODS.includes(request.method) ? getPath(request) : undefined
    const isPage = path !== undefined && files.has(path)
    const isOpen = isPage || (path !== undefined && OPEN_PATHS.includes(path))
    const answer = () => (isPage ? files.answer(request) : routes.fetch(request, env))
    const refusal = guard(request, isOpen)
    return refusal instanceof Promise ? refusal.then(found => found ?? answer()) : (refusal ?? answer())
  }
}
