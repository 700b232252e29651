import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import type { McpIntegration } from '../mcp/index.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import type { OAuthConfig } from '../project/config.ts'
import type { DurableStatus } from '../project/durable.ts'
import type { Project } from '../project/project.ts'
import type { ActiveCalls } from './active-calls.ts'
import type { ModelInfo } from './api-types.ts'
import type { ChatArchive } from './chat-archive.ts'
import type { ClientList, Clients } from './clients.ts'
import type { EventHub } from './events.ts'
import type { GatewayOptions } from './gateway.ts'
import type { McpEndpoint } from './mcp-server/http-endpoint.ts'
import type { OAuthClients } from './oauth.ts'
import type { Questions } from './questions.ts'
import type { RecentCalls } from './recent-calls.ts'

/** What not every source has. */
type ProjectParts =
  | ('approvals' | 'bigResults' | 'catalog' | 'clientOf' | 'durable' | 'file' | 'history' | 'logins')
  | ('messages' | 'models' | 'onDurable' | 'pins' | 'reload' | 'stop' | 'waitWhileStarting')

/** What a gateway shows and calls: a Project, or a program's own parts. */
export interface GatewaySource
  extends Readonly<{ [Part in ProjectParts]?: Project[Part] | undefined }>,
    Pick<GatewayOptions, 'client'> {
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
  model(): Promise<ModelInfo>
  /** Turns speech into text, if that is available now. */
  voice(): GatewayOptions['voice']
  status(): { servers: readonly ServerStatus[]; durable?: DurableStatus | undefined }
  /** Resolves when the server is ready again, or has failed. */
  restart(server: string): Promise<void>
  /** Adds a check that also runs before every reload; returns a function that removes it. */
  addCheck?(check: (config: { clients?: ClientList | undefined }) => void): () => void
  on(event: 'server' | 'voice' | 'approval' | 'timer', listener: (event?: unknown) => void): () => void
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
  /** The open streams of all kinds. */
  streams: Set<unknown>
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
  const unnamed = client
    ? { name: client.constructor.name, why: 'passed to createGateway' }
    : { name: 'none', why: 'no client was passed to createGateway' }
  return {
    ...{ executor, client, approvals, bigResults },
    model: async () => model ?? unnamed,
    voice: () => voice,
    catalog: mcp?.catalog,
    history: () => history,
    logins: () => mcp?.logins,
    status: () => ({ servers: mcp?.status() ?? [] }),
    messages: mcp?.messages?.bind(mcp),
    restart: server => mcp?.restart(server) ?? unknown(server),
    stop: server => mcp?.stop?.(server) ?? unknown(server),
    on(event, listener) {
      if (event === 'server' && mcp) return mcp.on('server', listener)
      return event === 'approval' && approvals ? approvals.onChange(listener) : () => {}
    },
  }
}
