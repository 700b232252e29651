import type { ToolExecutor } from '../executor/executor.ts'
import type { History } from '../history/history.ts'
import type { Approvals, Pins } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import type { Catalog } from '../mcp/catalog.ts'
import type { McpIntegration } from '../mcp/index.ts'
import type { Logins } from '../mcp/oauth/logins.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { OAuthConfig } from '../project/config.ts'
import type { ReloadChanges } from '../project/configuration.ts'
import type { DurableRuns } from '../project/durable/durable-runs.ts'
import type { DurableChange, DurableStatus } from '../project/durable.ts'
import type { VoiceInput } from '../project/voice.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import type { ActiveCalls } from './active-calls.ts'
import type { ModelInfo } from './api-types.ts'
import type { ChatArchive } from './chat/chat-archive.ts'
import type { ClientList, Clients } from './clients.ts'
import type { EventHub } from './events.ts'
import type { GatewayOptions } from './gateway.ts'
import type { Streams } from './http.ts'
import type { McpEndpoint } from './mcp-server/http-endpoint.ts'
import type { OAuthClients } from './oauth.ts'
import type { Questions } from './questions.ts'
import type { RecentCalls } from './recent-calls.ts'

/** A message exchanged with an MCP server. */
interface ServerMessage {
  seq: number
  time: string
  direction: 'sent' | 'received'
  kind: string
  method?: string
  id?: string | number
  duration_ms?: number
  bytes: number
  message: unknown
}

/** What a gateway shows and calls: a Project, or a program's own parts. */
export interface GatewaySource {
  executor: ToolExecutor
  /** Who may call what; read again after a reload. */
  readonly config?:
    | {
        clients?: ClientList | undefined
        gateway?: { oauth?: OAuthConfig | undefined; toolSearch?: boolean | undefined } | undefined
        trace?: { url?: string | undefined } | false | undefined
        models?: { maxTools?: number | undefined; pin?: readonly string[] | undefined } | undefined
      }
    | undefined
  /** Keeps results too long for a model. */
  readonly bigResults?: BigResults | undefined
  /** Answers the chat; without one, there is no chat. */
  client: AiClient | undefined
  model(): Promise<ModelInfo>
  /** The models to choose from, and the client for one of them; without these, there is no choice. */
  models?(): Promise<readonly ModelInfo[]>
  clientOf?(model: string): Promise<AiClient | undefined>
  /** Turns speech into text, if that is available now. */
  voice(): VoiceInput | undefined
  /** Calls waiting for approval, if there is a policy that asks for it. */
  approvals?: Approvals | undefined
  /** The accepted definitions of the servers' tools. */
  pins?: Pins | undefined
  /** The resources and prompts of the MCP servers. */
  catalog?: Catalog | undefined
  /** The calls kept in a file, if any. */
  history?(): History | undefined
  /** Makes calls durable and knows the runs, if that is available. */
  durable?(): DurableRuns | undefined
  status(): { servers: readonly ServerStatus[]; durable?: DurableStatus | undefined }
  /** The last messages exchanged with a server. */
  messages?(server: string, options: { after?: number | undefined }): readonly ServerMessage[]
  /** The logins to the servers, if there are any. */
  logins?(): Logins | undefined
  /** Resolves when the server is ready again, or has failed. */
  restart(server: string): Promise<void>
  /** Stops a server until it is restarted. */
  stop?(server: string): Promise<void>
  /** Where the configuration was read from; `undefined` for the built-in example. */
  readonly file?: string | undefined
  /** Reloads the configuration; rejects, without changing anything, if it has a mistake. */
  reload?(): Promise<ReloadChanges>
  /** Adds a check that also runs before every reload; returns a function that removes it. */
  addCheck?(check: (config: { clients?: ClientList | undefined }) => void): () => void
  on(event: 'server' | 'voice' | 'approval', listener: () => void): () => void
  /** Reports changes of durable runs; returns a function that stops it. */
  onDurable?(listener: (change: DurableChange) => void): () => void
  /** Reports timers that have ended; returns a function that stops it. */
  onTimer?(listener: (event: { name: string | undefined; text: string }) => void): () => void
}

/** What the routes work with. */
export interface GatewayContext {
  executor: ToolExecutor
  source: GatewaySource
  clients: Clients
  oauth: OAuthClients
  /** The system prompt of every conversation. */
  instructions: string
  calls: ActiveCalls
  recent: RecentCalls
  archive: ChatArchive
  events: EventHub
  streams: Streams
  /** Questions from tools to their callers over HTTP. */
  questions: Questions
  mcp: McpEndpoint
  logger: Logger
}

/** What a gateway needs from the MCP servers. */
export type GatewayServers = Pick<McpIntegration, 'status' | 'restart' | 'on'> &
  Partial<Pick<McpIntegration, 'catalog' | 'logins' | 'stop'>> &
  Pick<GatewaySource, 'messages'>

/** The gateway's project, or a source made of the parts a program passed. */
export function sourceOf(options: GatewayOptions): GatewaySource {
  const { project, executor, mcp, client, model, voice, approvals, history, bigResults } = options
  if (project) return project
  if (!executor) throw new TypeError('createGateway needs a project or an executor')
  const unknown = (server: string) => Promise.reject(new Error(`There is no MCP server '${server}'`))
  return {
    executor,
    client,
    model: async () => model ?? unnamed(client),
    voice: () => voice,
    approvals,
    bigResults,
    catalog: mcp?.catalog,
    history: () => history,
    logins: () => mcp?.logins,
    status: () => ({ servers: mcp?.status() ?? [] }),
    ...(mcp?.messages && { messages: (server, range) => mcp.messages?.(server, range) ?? [] }),
    restart: server => mcp?.restart(server) ?? unknown(server),
    stop: server => mcp?.stop?.(server) ?? unknown(server),
    on(event, listener) {
      if (event === 'server' && mcp) return mcp.on('server', listener)
      return event === 'approval' && approvals ? approvals.onChange(listener) : () => {}
    },
  }
}

function unnamed(client: GatewayOptions['client']): ModelInfo {
  return client
    ? { name: client.constructor.name, why: 'passed to createGateway' }
    : { name: 'none', why: 'no client was passed to createGateway' }
}
