import type { Logger } from '../logging/logger.ts'
import { removeFromLogs } from '../logging/safe-value.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Sample } from '../tools/caller.ts'
import type { Catalog } from './catalog.ts'
import { checkServerEntry, type ServerEntry } from './server-entry.ts'
import { secretsOf } from './server-secrets.ts'

export interface McpIntegrationOptions {
  /** `mcpServers`, as people have it. Their order decides who keeps a name that two of them use. */
  servers: Readonly<Record<string, ServerEntry>>
  /** Of the first connection. A server that is lost later is tried for ever. */
  retry?: { attempts?: number | undefined; baseDelayMs?: number | undefined } | undefined
  connectTimeoutMs?: number | undefined
  /** The folder that logins at servers are kept in; in memory alone if left out. */
  loginsFolder?: string | undefined
  logger?: Logger | undefined
  /** Given the text for a person when a server is unavailable. It is logged as well. */
  onReport?: ((text: string) => void) | undefined
  clock?: Clock | undefined
  /** Writes messages for servers with `sampling`, if the caller cannot. */
  sample?: Sample | undefined
  /** Shows their resources and prompts; one of its own if left out. */
  catalog?: Catalog | undefined
}

/** Throws on an entry that cannot be used. */
export function checkServers(servers: McpIntegrationOptions['servers']): void {
  for (const [name, entry] of Object.entries(servers)) {
    checkServerEntry(name, entry)
    removeFromLogs(secretsOf(entry))
  }
}
