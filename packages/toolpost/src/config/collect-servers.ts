import { basename } from 'node:path'
import { isRecord } from '../runtime/guards.ts'
import { isLoopback } from '../runtime/loopback.ts'
import { serverProblem } from './check-servers.ts'
import type { ConfigSchema } from './config-schema.ts'
import { type FoundServer, type ServerFile, serversIn } from './found-servers.ts'
import { ignoredLine } from './ignored-keys.ts'
import { readIncludes } from './read-includes.ts'

export interface CollectedServers {
  /** In the order of the configuration: its own, then those of each included file. Names are unique. */
  servers: FoundServer[]
  /** Warnings for the user. */
  notices: string[]
  /** Every included file, including those that do not exist yet. */
  paths: string[]
}

interface CollectOptions {
  schema: ConfigSchema
  /** The project's folder. */
  folder: string
  /** Where the project's own gateway listens. */
  port: number
}

/** The servers of a configuration and of the files it includes. Throws a ConfigError on invalid JSON or a cycle. */
export async function collectServers(main: ServerFile, options: CollectOptions): Promise<CollectedServers> {
  const { schema, folder, port } = options
  const { files, paths, notices } = await readIncludes(main)
  const servers = new Map<string, FoundServer>()
  for (const file of [main, ...files]) {
    const found = serversIn(file, { known: schema.serverKeys, folder })
    for (const server of found) {
      const notice = isItself(server, port)
        ? `⚠️ ${file.shown}: skipping '${server.name}', which is Toolpost itself`
        : taken(server, servers.get(server.name))
      if (notice !== undefined) notices.push(notice)
      else servers.set(server.name, checked(server, schema))
    }
    const line =
      file.isIncluded &&
      ignoredLine(
        file.shown,
        found.flatMap(({ ignored }) => ignored),
      )
    if (line) notices.push(line)
  }
  return { servers: [...servers.values()], notices, paths }
}

function taken({ name, file }: FoundServer, earlier: FoundServer | undefined): string | undefined {
  if (!earlier) return undefined
  return `⚠️ ${file.shown}: skipping '${name}', already defined in ${earlier.file.shown}`
}

/** A mistake in an included file breaks only that one server. */
function checked(server: FoundServer, schema: ConfigSchema): FoundServer {
  const { name, entry, file } = server
  if (!file.isIncluded || server.problem !== undefined) return server
  const found = schema.problemIn({ mcpServers: { [name]: entry } })
  const place = found?.path.slice(2).join('.')
  const problem = found ? `${place ? `'${place}' ` : ''}${found.problem}` : serverProblem(server)
  return { ...server, problem }
}

/**
 * If an editor has Toolpost as a server and its file is included here, Toolpost would start itself, or offer its own tools to
 * itself, endlessly.
 */
function isItself({ entry, file }: FoundServer, port: number): boolean {
  if (!file.isIncluded || !isRecord(entry)) return false
  const { command, args = [], url } = entry as { command?: unknown; args?: unknown; url?: unknown }
  if (typeof url === 'string' && URL.canParse(url)) {
    const { hostname, port: given, pathname } = new URL(url)
    return isLoopback(hostname) && Number(given) === port && pathname === '/mcp'
  }
  const words = [command, ...(Array.isArray(args) ? args : [])].filter(word => typeof word === 'string')
  return words.includes('serve') && words.some(word => /^toolpost(@.*|\.c?js|\.cmd)?$/.test(basename(word)))
}
