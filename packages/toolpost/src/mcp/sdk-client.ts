import type { Client, ClientOptions } from '@modelcontextprotocol/client'
import { isRecord } from '../runtime/guards.ts'
import { toolpostVersion } from '../runtime/version.ts'
import { MAX_LIST_PAGES } from './limits.ts'

/** The MCP SDK, loaded at the first connection: it costs more than everything else of a short program. */
export function loadSdk(): Promise<typeof import('@modelcontextprotocol/client')> {
  return import('@modelcontextprotocol/client')
}

/** `legacy` begins with `initialize`, as servers have always been spoken to; `auto` asks for the newest protocol first. */
export type Negotiation = 'legacy' | 'auto'

export interface ClientEvents {
  toolsChanged(): void
  /** Something that went wrong outside a request. */
  error(error: Error): void
}

export async function createClient(negotiation: Negotiation, events: ClientEvents): Promise<Client> {
  const { Client } = await loadSdk()
  const options: ClientOptions = {
    capabilities: {},
    versionNegotiation: { mode: negotiation },
    // Asks servers of the newest protocol to tell; the handler below is for all that tell unasked.
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => events.toolsChanged() } },
  }
  const client = new Client(clientInfo(), options)
  client.setNotificationHandler('notifications/tools/list_changed', () => events.toolsChanged())
  client.onerror = error => events.error(error)
  return client
}

/** How Toolpost introduces itself to servers. */
export function clientInfo(): { name: string; version: string } {
  return { name: 'toolpost', version: toolpostVersion() }
}

/** Lets every result through: what Toolpost needs of one it checks itself, and says in plain words. */
const ANY_RESULT = {
  '~standard': { version: 1 as const, vendor: 'toolpost', validate: (value: unknown) => ({ value }) },
}

/** All tools of a server, as it describes them: not the SDK's `listTools`, for which one bad entry spoils all. */
export async function listTools(client: Client, timeoutMs: number): Promise<unknown[]> {
  if (!client.getServerCapabilities()?.tools) return []
  const tools: unknown[] = []
  const seen = new Set<unknown>([undefined])
  let cursor: unknown
  for (let page = 0; page < MAX_LIST_PAGES; page++) {
    const params = typeof cursor === 'string' ? { cursor } : {}
    const result: unknown = await client.request({ method: 'tools/list', params }, ANY_RESULT, {
      timeout: timeoutMs,
    })
    if (!isRecord(result) || !Array.isArray(result.tools))
      throw new Error("its list of tools is not of MCP's form")
    tools.push(...result.tools)
    cursor = result.nextCursor
    if (seen.has(cursor) || cursor === null) return tools
    seen.add(cursor)
  }
  throw new Error(`its list of tools has more than ${MAX_LIST_PAGES} pages`)
}
