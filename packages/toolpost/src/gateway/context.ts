import type { ToolExecutor } from '../executor/executor.ts'
import type { History } from '../history/history.ts'
import type { Approvals } from '../interceptors/index.ts'
import type { BigResults } from '../interceptors/long-results.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import type { McpIntegration } from '../mcp/index.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ClientList, OAuthConfig } from '../project/config.ts'
import type { ModelInfo } from '../project/model-choice.ts'
import type { Project } from '../project/project.ts'
import type { VoiceInput } from '../project/voice.ts'
import { ActiveCalls } from './active-calls.ts'
import { CallLog } from './call-log.ts'
import { ChatArchive } from './chat-archive.ts'
import { type Client, createClients } from './clients.ts'
import { createEvents } from './events.ts'
import { createMcpEndpoint } from './mcp-server/http-endpoint.ts'
import { createOAuthClients } from './oauth.ts'
import { Questions } from './questions.ts'

export interface GatewayOptions {
  /** What a toolpost.json describes, from `openProject`; read again when that changes. */
  project?: GatewaySource | undefined
  /** Without a project: its parts. */
  executor?: ToolExecutor | undefined
  mcp?: McpIntegration | undefined
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
  /** Others with their own tokens, by name, and what they may use. */
  clients?: ClientList | undefined
  /** Also accept access tokens of an OAuth issuer. */
  oauth?: OAuthConfig | undefined
  /** The system prompt of every conversation. */
  instructions?: string | undefined
  /** The owner's token: allows everything. A random one if left out; `false` lets everybody in as the owner. */
  token?: string | false | undefined
  /** Host names the gateway answers to, in addition to loopback. */
  hosts?: readonly string[] | undefined
  /** Calls that take longer are marked slow. */
  slowMs?: number | undefined
  /** The folder of the built console; found automatically if left out. */
  console?: string | undefined
  logger?: Logger | undefined
}

/** What a gateway shows and calls: a Project, or a program's own parts. */
export type GatewaySource = Pick<Project, 'executor' | 'on' | 'restart' | 'status' | 'voice'> & {
  readonly [Part in Exclude<keyof Project, 'model'>]?: Project[Part] | undefined
} & { model(): Promise<ModelInfo> }

export type GatewayContext = ReturnType<typeof contextOf>

const DEFAULT_INSTRUCTIONS =
  'Use the tools for what they can do or know, instead of guessing. Answer in a few short sentences.'

/** What the routes work with. */
export function contextOf(options: GatewayOptions, source: GatewaySource, token: string | false) {
  const { instructions = DEFAULT_INSTRUCTIONS, slowMs } = options
  const logger = quietLogger(options.logger)
  const oauth = createOAuthClients(source, logger)
  const clients = createClients(source, oauth, token)
  /** The open streams of all kinds. */
  const streams = new Map<unknown, Client>()
  const calls = new ActiveCalls()
  const log = new CallLog(source, slowMs)
  const questions = new Questions()
  const mcp = createMcpEndpoint({ source, logger, calls, streams })
  const events = createEvents({ source, log, questions, streams })
  const archive = new ChatArchive(source, logger)
  return {
    source,
    clients,
    oauth,
    instructions,
    calls,
    logger,
    log,
    questions,
    archive,
    events,
    mcp,
  }
}

/** The gateway's project, or a source made of the parts a program passed. */
export function sourceOf(options: GatewayOptions): GatewaySource {
  const { project, executor, mcp, client, model, voice, approvals, history, bigResults, clients, oauth } =
    options
  if (project && (clients || oauth))
    throw new TypeError("'clients' and 'oauth' belong in the configuration of the project")
  if (project) return project
  if (!executor) throw new TypeError('createGateway needs a project or an executor')
  const why = client ? 'passed to createGateway' : 'no client was passed to createGateway'
  const on = (event: string, listener: () => void) => {
    if (event === 'server' && mcp) return mcp.on('server', listener)
    return event === 'approval' && approvals ? approvals.onChange(listener) : () => {}
  }
  return {
    executor,
    client,
    approvals,
    bigResults,
    config: { clients, gateway: { oauth } },
    catalog: mcp?.catalog,
    on: on as Project['on'],
    voice: () => voice,
    model: async () => model ?? { name: client?.constructor.name ?? 'none', why },
    history: () => history,
    logins: () => mcp?.logins,
    status: () => ({ servers: [...(mcp?.status() ?? [])], problem: undefined, model: undefined, voice: [] }),
    messages: (server, which) => mcp?.messages(server, which) ?? [],
    restart: async server => mcp?.restart(server),
    stop: async server => mcp?.stop(server),
  }
}
