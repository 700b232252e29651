import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { Logger } from '../logging/logger.ts'
import type { ServerStatus } from '../mcp/server-status.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ActiveCalls } from './active-calls.ts'
import type { CallJournal } from './call-journal.ts'
import type { ChatConversations } from './chat-conversations.ts'
import type { EventHub } from './event-hub.ts'
import type { McpEndpoint } from './mcp-server/http-endpoint.ts'
import type { VoiceInput } from './voice-input.ts'

/** The MCP servers, as far as the gateway needs them: an McpIntegration, or one that is yet to come. */
export interface ServerControl {
  status(): ServerStatus[]
  /** Resolves when the server is there again, or is not. */
  restart(name: string): Promise<void>
}

/** Which client answers the chat, and why. */
export interface ModelInfo {
  name: string
  why: string
}

/** What the routes work with. */
export interface GatewayContext {
  executor: ToolExecutor
  servers: ServerControl
  client: AiClient | undefined
  model: () => ModelInfo | Promise<ModelInfo>
  /** What turns speech into text now, if anything does. */
  voice: () => VoiceInput | undefined
  /** What the client is told before every conversation. */
  instructions: string
  calls: ActiveCalls
  journal: CallJournal
  conversations: ChatConversations
  events: EventHub
  mcp: McpEndpoint
  logger: Logger
}
