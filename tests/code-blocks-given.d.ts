// Declarations that code fragments in the documents rely on.
import type { ToolCall, ToolExecutor, ToolManager } from 'toolpost'
import type { ServerEntry } from 'toolpost/mcp'
import type { AiClient } from 'toolpost/models'

declare global {
  const executor: ToolExecutor
  const tools: ToolManager
  const client: AiClient
  const logger: import('toolpost').Logger
  const servers: Record<string, ServerEntry>
  const address: string
  const call: ToolCall
  const traceparent: string
  const recording: Uint8Array
  const original: import('toolpost').JsonSchema
  const devices: NonNullable<Parameters<typeof import('zwave-mcp-server/home').startHome>[0]>['devices']
}
