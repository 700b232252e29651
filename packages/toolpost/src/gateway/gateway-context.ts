import type { OAuthConfig } from '../project/config.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { History } from '../history/history.ts'
import type { Approvals } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import type { Catalog } from '../mcp/catalog.ts'
import type { Logins } from '../mcp/oauth/logins.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ReloadChanges } from '../project/changes.ts'
import type { DurableRuns } from '../project/durable/durable-runs.ts'
import type { DurableChange, DurableStatus } from '../project/durable.ts'
import type { VoiceInput } from '../project/voice.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import type { ActiveCalls } from './active-calls.ts'
import type { GatewayEvents, ModelInfo } from './api-types.ts'
import type { CallJournal } from './call-journal.ts'
import type { CallerFigures } from './caller-figures.ts'
import type { ChatArchive } from './chat/chat-archive.ts'
import type { ChatConversations } from './chat-conversations.ts'
import type { ClientList } from './client.ts'
import type { Clients } from './clients.ts'
import type { EventHub } from './event-hub.ts'
import type { CallsUnderWay } from './follow-calls.ts'
import type { McpEndpoint } from './mcp-server/http-endpoint.ts'
import type { Questions } from './questions.ts'

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
  /** The resources and prompts of the MCP servers. */
  catalog?: Catalog | undefined
  /** The calls kept in a file, if any. */
  history?(): History | undefined
  /** Makes calls durable and knows the runs, if that is available. */
  durable?(): DurableRuns | undefined
  status(): { servers: readonly ServerStatus[]; durable?: DurableStatus | undefined }
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
}

/** What the routes work with. */
export interface GatewayContext {
  executor: ToolExecutor
  source: GatewaySource
  /** Identifies who makes a request. */
  clients: Clients
  callers: CallerFigures
  /** The system prompt of every conversation. */
  instructions: string
  calls: ActiveCalls
  journal: CallJournal
  /** Calls that can be cancelled. */
  underWay: CallsUnderWay
  conversations: ChatConversations
  /** Saved conversations. */
  archive: ChatArchive
  events: EventHub<GatewayEvents>
  /** Questions from tools to their callers over HTTP. */
  questions: Questions
  mcp: McpEndpoint
  logger: Logger
}
