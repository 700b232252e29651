import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServerConfig } from '../config/config.ts'
import { silentLogger } from '../logging/logger.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { openProject } from './open-project.ts'

export interface TriedServer {
  status: ServerStatus
  /** The names of its tools. */
  tools: string[]
}

/**
 * Starts a server once, as if it were in the configuration of this folder, and stops it again. Rejects with a ConfigError if
 * the entry is invalid.
 */
export async function tryServer(
  name: string,
  entry: ServerConfig,
  { folder, signal }: { folder: string; signal?: AbortSignal },
): Promise<TriedServer> {
  const file = join(folder, `.toolpost-try-${randomUUID()}.json`)
  const config = { mcpServers: { [name]: entry }, mcp: { retry: { attempts: 1 } } }
  await writeFile(file, JSON.stringify(config), { mode: 0o600 })
  try {
    const project = await openProject({ file, logger: () => silentLogger, say: () => {} })
    const stop = () => void project.close()
    signal?.addEventListener('abort', stop)
    try {
      const [status] = await project.ready(name)
      if (!status) throw new Error(`There is no server '${name}'`)
      return {
        status,
        tools: project.tools
          .getTools()
          .filter(tool => project.tools.originOf(tool)?.server === name)
          .map(tool => tool.name),
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      await project.close()
    }
  } finally {
    await rm(file, { force: true })
  }
}
