import type { ToolExecutor } from '../executor/executor.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import type { McpIntegration } from '../mcp/index.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import type { OAuthConfig } from '../project/config.ts'
import type { DurableStatus } from '../project/durable.ts'
import type { Project } from '../project/project.ts'
import { ActiveCalls } from './active-calls.ts'
import type { ModelInfo } from './api-types.ts'
import { CallLog } from './call-log.ts'
import { ChatArchive } from './chat-archive.ts'
import { type ClientList, Clients } from './clients.ts'
import { Events } from './events.ts'
import type { GatewayOptions } from './gateway.ts'
import { createMcpEndpoint } from './mcp-server/http-endpoint.ts'
import { createOAuthClients } from './oauth.ts'
import { Questions } from './questions.ts'

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

export type GatewayContext = ReturnType<typeof contextOf>

const DEFAULT_INSTRUCTIONS =
  'Use the tools for what they can do or know, instead of guessing. Answer in a few short sentences.'

/** What the routes work with. */
export function contextOf(options: GatewayOptions, token: string | false) {
  const { instructions = DEFAULT_INSTRUCTIONS, slowMs, clock } = options
  const logger = quietLogger(options.logger)
  const source = sourceOf(options)
  const { executor, catalog, waitWhileStarting } = source
  const { tools } = executor
  const oauth = createOAuthClients(tools, () => oauthOf(options), logger)
  const list = () => options.clients ?? source.config?.clients
  const clients = new Clients({ tools, token, list, oauth })
  /** The open streams of all kinds. */
  const streams = new Set<unknown>()
  const calls = new ActiveCalls()
  const log = new CallLog(source, slowMs)
  const questions = new Questions(clock)
  return {
    ...{ executor, source, clients, oauth, instructions, calls, streams, logger },
    ...{ log, questions },
    archive: new ChatArchive(source, logger),
    events: new Events({ source, clients, log, questions, streams, clock }),
    mcp: createMcpEndpoint({
      ...{ executor, clients, logger, calls, streams, catalog, waitWhileStarting },
      offer: () => ({ ...source.config?.models, toolSearch: source.config?.gateway?.toolSearch }),
    }),
  }
}

/** Read again when the configuration changes. */
export function oauthOf({ oauth, project }: GatewayOptions): OAuthConfig | undefined {
  return oauth ?? project?.config?.gateway?.oauth
}

/** What a gateway needs from the MCP servers. */
export type GatewayServers = Pick<McpIntegration, 'status' | 'restart' | 'on'> &
  Partial<Pick<McpIntegration, 'catalog' | 'logins' | 'stop'>> &
  Pick<GatewaySource, 'messages'>

/** The gateway's project, or a source made of the parts a program passed. */
function sourceOf(options: GatewayOptions): GatewaySource {
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
