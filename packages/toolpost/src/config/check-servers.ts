import { shownAddress } from '../logging/config-secrets.ts'
import { oauthProblem } from '../mcp/oauth/oauth-options.ts'
import { isHttpUrl } from '../mcp/server-entry.ts'
import type { ServerConfig } from './config.ts'
import type { FoundServer } from './found-servers.ts'

/** Checks what a JSON Schema would report badly: a server needs either a command or a URL. */
export function checkServers(servers: readonly FoundServer[]): void {
  for (const server of servers) {
    const problem = server.problem === undefined ? serverProblem(server) : undefined
    if (problem) throw server.file.source.error(server.path, problem)
  }
}

/** Why a server cannot be used. One with variables is checked once they are filled in. */
export function serverProblem({ entry, ignored }: FoundServer): string | undefined {
  if (entry.disabled || JSON.stringify(entry).includes('${')) return undefined
  const problem = problemOf(entry)
  const misspelt = ignored.find(({ meant }) => meant === 'command' || meant === 'url')
  if (!problem || !misspelt || (entry.command ?? entry.url) !== undefined) return problem
  return `${problem}; did you mean '${misspelt.meant}' instead of '${misspelt.path.at(-1)}'?`
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
