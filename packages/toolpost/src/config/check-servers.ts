import { shownAddress } from '../logging/config-secrets.ts'
import { oauthProblem } from '../mcp/oauth/oauth-options.ts'
import { isHttpUrl } from '../mcp/server-entry.ts'
import type { ServerConfig, ToolpostConfig } from './config.ts'
import type { ConfigSource } from './config-source.ts'

/** What a JSON Schema says badly: a server is either started here or reached at an address. */
export function checkServers({ mcpServers = {} }: ToolpostConfig, source: ConfigSource): void {
  for (const [name, server] of Object.entries(mcpServers)) {
    // With variables in it, it is checked once they are filled in.
    const problem = JSON.stringify(server).includes('${') ? undefined : problemOf(server)
    if (problem) throw source.error(['mcpServers', name], problem)
  }
}

/** Why a server cannot be started as it is configured. */
export function problemOf({ command, url, ...rest }: ServerConfig): string | undefined {
  if (command === undefined && url === undefined) return "has neither 'command' nor 'url'; set exactly one"
  if (command !== undefined && url !== undefined) return "has both 'command' and 'url'; set exactly one"
  if (command?.trim() === '') return "'command' is empty"
  if (url !== undefined && !isHttpUrl(url))
    return `'url' is not a valid URL: '${shownAddress(url)}'; expected http://… or https://…`
  return 'oauth' in rest ? oauthProblem(rest.oauth) : undefined
}
