import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ModelInfo } from '../project/model-choice.ts'
import type { VoiceInput } from '../project/voice.ts'
import type { Clock } from '../runtime/clock.ts'
import { ActiveCalls } from './active-calls.ts'
import { CallJournal } from './call-journal.ts'
import { ChatConversations } from './chat-conversations.ts'
import { ConsoleFiles, findConsole } from './console-files.ts'
import { EventHub } from './event-hub.ts'
import type { GatewayContext, GatewaySource } from './gateway-context.ts'
import { type GatewayServers, sourceOf } from './gateway-source.ts'
import { failure } from './http/answers.ts'
import { createGuard } from './http/guard.ts'
import { DRAIN_MS } from './limits.ts'
import { createMcpEndpoint } from './mcp-server/http-endpoint.ts'
import { addCallRoutes } from './routes/calls.ts'
import { addChatRoutes } from './routes/chat.ts'
import { addHealthRoutes } from './routes/health.ts'
import { addOpenApiRoute } from './routes/openapi.ts'
import { addServerRoutes } from './routes/servers.ts'
import { addToolRoutes } from './routes/tools.ts'
import { addTranscriptionRoutes } from './routes/transcriptions.ts'
import { together } from './together.ts'

export interface GatewayOptions {
  /** What a toolpost.json describes, from `openProject`. */
  project?: GatewaySource | undefined
  /** Without a project, its parts. */
  executor?: ToolExecutor | undefined
  mcp?: GatewayServers | undefined
  /** Answers the chat; without one there is none. */
  client?: AiClient | undefined
  /** What the client is called, and why it was chosen. */
  model?: ModelInfo | undefined
  /** Turns speech into text; without one the console has no button for it. */
  voice?: VoiceInput | undefined
  /** What the client is told before every conversation. */
  instructions?: string | undefined
  /** Asked for on every route but the page's own files. */
  token?: string | undefined
  /** Names under which the gateway may be addressed, beside those of the loopback. */
  hosts?: readonly string[] | undefined
  /** Calls that take longer are marked as slow. */
  slowMs?: number | undefined
  /** The folder of the built console; `undefined` finds it. */
  console?: string | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
}

/** Toolpost over HTTP, as a function from a request to its answer: it needs no port. */
export interface Gateway {
  fetch(request: Request, env?: object): Response | Promise<Response>
  /** Takes no new calls, waits for those under way, at most `drainMs`, then ends them and every stream. */
  close(options?: { drainMs?: number }): Promise<void>
  /** Ends the calls under way now, for those who do not want to wait. */
  abort(): void
}

const DEFAULT_SLOW_MS = 1_000
const DEFAULT_INSTRUCTIONS =
  'Use the tools for what they can do or know, instead of guessing. Answer in a few short sentences.'

export function createGateway(options: GatewayOptions): Gateway {
  const context = contextOf(options)
  const { executor, events, journal, calls, mcp } = context
  const stops = [
    executor.observe(event => {
      const { record, bytes } = journal.note(event)
      events.publish('call', record, bytes)
    }),
    ...tellOfChanges(context, options.clock),
  ]
  const app = createApp(context, options)
  return {
    fetch: (request, env) => app(request, env ?? {}),
    abort: () => calls.abort(),
    async close({ drainMs = DRAIN_MS } = {}) {
      await calls.drain(drainMs, options.clock)
      for (const stop of stops) stop()
      events.close()
      await mcp.close()
    },
  }
}

/** Tells everybody who watches of tools, servers and speech that come and go. */
function tellOfChanges({ executor, source, events }: GatewayContext, clock: Clock | undefined) {
  const tellServers = () => {
    if (events.clients === 0) return
    const { servers } = source.status()
    events.publish('servers', { servers }, JSON.stringify(servers).length)
  }
  const servers = together(tellServers, clock)
  const tools = together(() => events.publish('tools', {}), clock)
  return [
    executor.tools.onChange(tools.soon),
    source.on('server', servers.soon),
    source.on('voice', () => events.publish('voice', { available: source.voice() !== undefined })),
    servers.stop,
    tools.stop,
  ]
}

function contextOf(options: GatewayOptions): GatewayContext {
  const { logger = silentLogger, slowMs = DEFAULT_SLOW_MS, clock } = options
  const source = sourceOf(options)
  const { executor } = source
  const calls = new ActiveCalls()
  return {
    executor,
    source,
    instructions: options.instructions ?? DEFAULT_INSTRUCTIONS,
    calls,
    journal: new CallJournal({ tools: executor.tools, slowMs }),
    conversations: new ChatConversations(),
    events: new EventHub({ clock }),
    mcp: createMcpEndpoint({ executor, calls, logger }),
    logger,
  }
}

/** Looks at every request first, then has it answered. */
function createApp(context: GatewayContext, options: GatewayOptions): Required<Gateway>['fetch'] {
  const { token, hosts } = options
  const files = new ConsoleFiles(options.console ?? findConsole())
  const guard = createGuard({ token, hosts })
  const app = createRoutes(context, files)
  return (request, env) => {
    const isPage = request.method === 'GET' && files.isOwn(getPath(request))
    return guard(request, isPage) ?? app.fetch(request, env)
  }
}

function createRoutes(context: GatewayContext, files: ConsoleFiles): Hono {
  const app = new Hono()
  addToolRoutes(app, context)
  addServerRoutes(app, context)
  addCallRoutes(app, context)
  addChatRoutes(app, context)
  addTranscriptionRoutes(app, context)
  addHealthRoutes(app, context)
  addOpenApiRoute(app, context)
  app.all('/mcp', c => context.mcp.handle(c.req.raw))
  app.get('*', c => files.answer(c.req.path) ?? c.notFound())
  app.notFound(c => failure(404, `There is no ${c.req.method} ${safeText(c.req.path, 200)}`))
  app.onError(error => {
    context.logger.error({ error: safeText(error.message) }, 'A request failed')
    return failure(500, 'Something went wrong inside Toolpost')
  })
  return app
}
