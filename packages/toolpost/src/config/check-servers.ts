import { ConfigError, type ServerConfig, type ToolpostConfig } from './config.ts'

/** What a JSON Schema says badly: a server is either started here or reached at an address. */
export function checkServers({ mcpServers = {} }: ToolpostConfig, file: string): void {
  for (const [name, server] of Object.entries(mcpServers)) {
    const problem = problemOf(server)
    if (problem) throw new ConfigError(file, `mcpServers.${name}`, problem)
  }
}

function problemOf({ command, url }: ServerConfig): string | undefined {
  if (command === undefined && url === undefined) return "has neither 'command' nor 'url'; give one of them"
  if (command !== undefined && url !== undefined) return "has both 'command' and 'url'; give one of them"
  if (url !== undefined && !URL.canParse(url) && !url.includes('${')) return `'url' is no address: ${url}`
  return undefined
}
