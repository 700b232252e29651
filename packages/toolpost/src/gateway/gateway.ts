import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { Clock } from '../runtime/clock.ts'
import { ActiveCalls } from './active-calls.ts'
import { CallJournal } from './call-journal.ts'
import { ChangeWatch } from './change-watch.ts'
import { ChatConversations } from './chat-conversations.ts'
import { ConsoleFiles, findConsole } from './console-files.ts'
import { EventHub } from './event-hub.ts'
import type { GatewayContext, ModelInfo, ServerControl } from './gateway-context.ts'
import { failure } from './http/answers.ts'
import { createGuard } from './http/guard.ts'
import { DRAIN_MS } from './limits.ts'
import { createMcpEndpoint } from './mcp-server/http-endpoint.ts'
import { onListChanges } from './mcp-server/list-changes.ts'
import { addCallRoutes } from './routes/calls.ts'
import { addChatRoutes } from './routes/chat.ts'
import { addHealthRoutes } from './routes/health.ts'
import { addOpenApiRoute } from './routes/openapi.ts'
import { addServerRoutes } from './routes/servers.ts'
import { addToolRoutes } from './routes/tools.ts'
import { addTranscriptionRoutes } from './routes/transcriptions.ts'
import type { VoiceInput } from './voice-input.ts'

export interface GatewayOptions {
  executor: ToolExecutor
  /** An McpIntegration, where there are MCP servers. */
  mcp?: ServerControl | undefined
  /** Answers the chat; without one there is none. */
  client?: AiClient | undefined
  /** What the client is called, and why it was chosen. */
  model?: ModelInfo | (() => ModelInfo | Promise<ModelInfo>) | undefined
  /** Turns speech into text; a function where it comes later, or may go. Without one the console has no button for it. */
  voice?: VoiceInput | (() => VoiceInput | undefined) | undefined
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

const NO_SERVERS: ServerControl = {
  status: () => [],
  restart: name => Promise.reject(new Error(`There is no MCP server '${name}'`)),
}
const DEFAULT_SLOW_MS = 1_000
const DEFAULT_INSTRUCTIONS =
  'Use the tools for what they can do or know, instead of guessing. Answer in a few short sentences.'

export function createGateway(options: GatewayOptions): Gateway {
  const { executor, clock } = options
  const servers = options.mcp ?? NO_SERVERS
  const context = contextOf(options, servers, isWatched => (isWatched ? watch.start() : watch.stop()))
  const { events, journal, calls, mcp } = context
  const watch = watchFor(context, clock)
  const stopObserving = executor.observe(event => {
    const { record, bytes } = journal.note(event)
    events.publish('call', record, bytes)
  })
  const tellOfTools = () => {
    events.publish('tools', {})
    watch.look()
  }
  const stopListening = onListChanges(executor.tools, tellOfTools, clock)
  const app = createApp(context, options)
  return {
    fetch: (request, env) => app(request, env ?? {}),
    abort: () => calls.abort(),
    async close({ drainMs = DRAIN_MS } = {}) {
      await calls.drain(drainMs, clock)
      stopObserving()
      stopListening()
      events.close()
      watch.stop()
      await mcp.close()
    },
  }
}

/** Tells of servers, and of speech to text, that come and go. */
function watchFor({ events, servers, voice }: GatewayContext, clock: Clock | undefined) {
  const serverWatch = new ChangeWatch({
    read: () => servers.status(),
    onChange: now => events.publish('servers', { servers: now }, JSON.stringify(now).length),
    clock,
  })
  const voiceWatch = new ChangeWatch({
    read: () => voice() !== undefined,
    onChange: available => events.publish('voice', { available }),
    clock,
  })
  const both = (act: (watch: Pick<typeof voiceWatch, 'start' | 'stop' | 'look'>) => void) => () =>
    [serverWatch, voiceWatch].forEach(act)
  return {
    start: both(watch => watch.start()),
    stop: both(watch => watch.stop()),
    look: both(watch => watch.look()),
  }
}

function contextOf(
  options: GatewayOptions,
  servers: ServerControl,
  onAudience: (isWatched: boolean) => void,
): GatewayContext {
  const { executor, client, model, voice, logger = silentLogger, slowMs = DEFAULT_SLOW_MS, clock } = options
  const calls = new ActiveCalls()
  return {
    executor,
    servers,
    client,
    model: typeof model === 'function' ? model : () => model ?? unnamed(client),
    voice: typeof voice === 'function' ? voice : () => voice,
    instructions: options.instructions ?? DEFAULT_INSTRUCTIONS,
    calls,
    journal: new CallJournal({ tools: executor.tools, slowMs }),
    conversations: new ChatConversations(),
    events: new EventHub({ clock, onAudience }),
    mcp: createMcpEndpoint({ executor, calls, logger }),
    logger,
  }
}

function unnamed(client: AiClient | undefined): ModelInfo {
  return client
    ? { name: client.constructor.name, why: 'the gateway was given it' }
    : { name: 'none', why: 'no client was given' }
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
