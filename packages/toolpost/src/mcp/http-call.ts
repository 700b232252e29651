import type { Client } from '@modelcontextprotocol/client'
import type { ServerRequest } from '../tools/tool.ts'
import { NO_TIMEOUT_MS } from './limits.ts'
import type { LinkCall } from './server-link.ts'

/**
 * Not `request`: only `callTool` mirrors arguments in headers, as the newest protocol requires. Without an output schema in
 * the definition, it does not reject results that do not match.
 */
export function callTool(
  client: Client,
  { tool, args, task, answers, onProgress, meta }: LinkCall,
  signal: AbortSignal,
) {
  const { outputSchema: _, ...toolDefinition } = tool
  const params = {
    name: tool.name,
    arguments: args as Record<string, unknown>,
    ...answers,
    ...(task && { task }),
    ...(meta && { _meta: meta }),
  }
  return client.callTool(params as never, {
    signal,
    timeout: NO_TIMEOUT_MS,
    toolDefinition: toolDefinition as never,
    ...(onProgress && { onprogress: onProgress }),
  })
}

export function addressOf({ hostname, port, protocol }: URL): NonNullable<ServerRequest['address']> {
  return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}
