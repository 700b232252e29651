import type { Logger } from '../logging/logger.ts'
import { removeFromLogs } from '../logging/redact.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Sample } from '../tools/caller.ts'
import type { Catalog } from './catalog.ts'
import { checkServerEntry, type ServerEntry } from './server-entry.ts'
import { secretsOf } from './server-secrets.ts'

export interface McpIntegrationOptions {
  /** `mcpServers`, in the usual form. Their order decides which one keeps a name that two of them use. */
  servers: Readonly<Record<string, ServerEntry>>
  /** For the first connection. A server lost later is retried forever. */
  retry?: { attempts?: number | undefined; baseDelayMs?: number | undefined } | undefined
  connectTimeoutMs?: number | undefined
  /** The folder for saved logins; if left out, they are kept in memory only. */
  loginsFolder?: string | undefined
  logger?: Logger | undefined
  /** Called with a message for the user when a server is unavailable. It is logged as well. */
  onReport?: ((text: string) => void) | undefined
  clock?: Clock | undefined
  /** Generates messages for servers with `sampling`, if the caller cannot. */
  sample?: Sample | undefined
  /** The catalog for their resources and prompts; a new one if left out. */
  catalog?: Catalog | undefined
}

/** Throws on an unusable entry. */
export function checkServerEntries(servers: McpIntegrationOptions['servers']): void {
  for (const [name, entry] of Object.entries(servers)) {
    checkServerEntry(name, entry)
    removeFromLogs(secretsOf(entry))
  }
}
