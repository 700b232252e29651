import { setTimeout as pause } from 'node:timers/promises'
import type { Client, ClientOptions } from '@modelcontextprotocol/client'
import { isRecord } from '../runtime/guards.ts'
import { toolpostVersion } from '../runtime/version.ts'
import { LISTEN_GRACE_MS, MAX_LIST_PAGES, MAX_TOOLS } from './limits.ts'

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
  const options: ClientOptions = { capabilities: {}, versionNegotiation: { mode: negotiation } }
  const client = new Client(clientInfo(), options)
  client.setNotificationHandler('notifications/tools/list_changed', () => events.toolsChanged())
  client.onerror = error => events.error(error)
  return client
}

/**
 * Asks a server of the newest protocol to tell when its tools change; others do it unasked. Resolves when it agreed,
 * or a moment later without that: not every server answers, and some proxies hold the answer back.
 */
export async function listenForChanges(client: Client, { toolsChanged, error }: ClientEvents): Promise<void> {
  if (client.getProtocolEra() !== 'modern' || !client.getServerCapabilities()?.tools?.listChanged) return
  const grace = new AbortController()
  let isLate = false
  const listening = client.listen({ toolsListChanged: true }).then(({ closed }) => {
    grace.abort()
    // What changed between the list and now was not told.
    if (isLate) toolsChanged()
    void closed.then(cause => cause === 'remote' && error(new Error('the stream of changes was cut')))
  })
  listening.catch(() => grace.abort())
  await pause(LISTEN_GRACE_MS, undefined, { signal: grace.signal }).catch(() => {})
  isLate = true
}

/** How Toolpost introduces itself to servers. */
export function clientInfo(): { name: string; version: string } {
  return { name: 'toolpost', version: toolpostVersion() }
}

/** Lets every result through: what Toolpost needs of one it checks itself, and says in plain words. */
const ANY_RESULT = {
  '~standard': { version: 1 as const, vendor: 'toolpost', validate: (value: unknown) => ({ value }) },
}

/** Gives the raw result that the SDK's stands for. */
type Redeem = (result: unknown) => unknown

/**
 * All tools of a server, as it describes them: not the SDK's `listTools`, for which one bad entry spoils all. A list
 * that is too long is cut behind the first tool too many.
 */
export async function listTools(
  client: Client,
  timeoutMs: number,
  redeem: Redeem = result => result,
): Promise<unknown[]> {
  if (!client.getServerCapabilities()?.tools) return []
  const tools: unknown[] = []
  const seen = new Set<unknown>([undefined])
  let cursor: unknown
  for (let page = 0; page < MAX_LIST_PAGES; page++) {
    const params = typeof cursor === 'string' ? { cursor } : {}
    const request = { method: 'tools/list', params } as const
    const result = redeem(await client.request(request, ANY_RESULT, { timeout: timeoutMs }))
    if (!isRecord(result) || !Array.isArray(result.tools)) throw new Error('its list of tools is malformed')
    for (const tool of result.tools.slice(0, MAX_TOOLS + 1 - tools.length)) tools.push(tool)
    cursor = result.nextCursor
    if (seen.has(cursor) || cursor === null || tools.length > MAX_TOOLS) return tools
    seen.add(cursor)
  }
  throw new Error(`its list of tools has more than ${MAX_LIST_PAGES} pages`)
}
