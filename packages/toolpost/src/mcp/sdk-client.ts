import type { Client, ClientOptions } from '@modelcontextprotocol/client'
import { isRecord } from '../runtime/guards.ts'
import { inSlices } from '../runtime/slices.ts'
import { toolpostVersion } from '../runtime/version.ts'
import { HEALTH_CHECK_MS, MAX_LIST_CHARACTERS, MAX_LIST_PAGES, MAX_TOOLS } from './limits.ts'
import { neededLogin } from './server-failure.ts'
import type { Requester, ServerAbout } from './server-link.ts'
import type { ServerRequests } from './server-requests.ts'
import { charactersOf } from './tool-definition.ts'

/** The MCP SDK, loaded for the first connection: it takes longer to load than the rest of a short program. */
export function loadSdk(): Promise<typeof import('@modelcontextprotocol/client')> {
  return import('@modelcontextprotocol/client')
}

/** `legacy` starts with `initialize`, as in all earlier protocols; `auto` asks for the newest protocol first. */
export type Negotiation = 'legacy' | 'auto'

export interface ClientEvents {
  notice(method: string, params: Readonly<Record<string, unknown>>): void
  /** An error outside a request. */
  error(error: Error): void
  /** The caller a request of the server is for, if that can be determined. */
  requester(): Requester | undefined
}

export async function createClient(
  negotiation: Negotiation,
  requests: ServerRequests,
  events: ClientEvents,
): Promise<Client> {
  const { Client } = await loadSdk()
  const { capabilities, methods } = requests
  const options: ClientOptions = { capabilities, versionNegotiation: { mode: negotiation } }
  const client = new Client(clientInfo(), options)
  for (const method of methods)
    client.setRequestHandler(method, async ({ params = {} }, { mcpReq: { signal } }) => {
      const answer = await requests.answer(method, params, { signal, from: events.requester() })
      return answer as never
    })
  client.fallbackNotificationHandler = async ({ method, params = {} }) => events.notice(method, params)
  client.onerror = error => events.error(error)
  return client
}

export function aboutServer(client: Client): ServerAbout {
  return {
    capabilities: client.getServerCapabilities() ?? {},
    instructions: client.getInstructions(),
    info: client.getServerVersion(),
  }
}

/** Whether the server still answers. */
export async function isAlive(client: Client): Promise<boolean> {
  const { ProtocolError } = await loadSdk()
  const method = client.getProtocolEra() === 'modern' ? 'discover' : 'ping'
  const sign = client[method]({ timeout: HEALTH_CHECK_MS })
  return sign.then(
    () => true,
    // A refusal proves that it is alive, too.
    error => error instanceof ProtocolError || neededLogin(error) !== undefined,
  )
}

/** How Toolpost introduces itself to servers. */
function clientInfo(): { name: string; version: string } {
  return { name: 'toolpost', version: toolpostVersion() }
}

/** The `_meta` of every request in the newest protocol. */
export async function modernMeta(client: Client, capabilities: object): Promise<Record<string, unknown>> {
  const sdk = await loadSdk()
  return {
    [sdk.PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion(),
    [sdk.CLIENT_INFO_META_KEY]: clientInfo(),
    // Roots are requested in place of a result and answered by the calling client; 2025 servers would ask for them at any time.
    [sdk.CLIENT_CAPABILITIES_META_KEY]: { roots: {}, ...capabilities },
    // Without it, the server logs nothing.
    [sdk.LOG_LEVEL_META_KEY]: 'info',
  }
}

/** Accepts every result: Toolpost checks what it needs itself, with clearer messages. */
export const ANY_RESULT = {
  '~standard': { version: 1 as const, vendor: 'toolpost', validate: (value: unknown) => ({ value }) },
}

/** The lists a server can have: the method to request one, and where its entries are. */
const LISTS = {
  tools: { method: 'tools/list', field: 'tools', capability: 'tools' },
  resources: { method: 'resources/list', field: 'resources', capability: 'resources' },
  templates: { method: 'resources/templates/list', field: 'resourceTemplates', capability: 'resources' },
  prompts: { method: 'prompts/list', field: 'prompts', capability: 'prompts' },
} as const

export type ListKind = keyof typeof LISTS

/** How long, and by whom, a list may be cached. */
export interface CacheHint {
  ttlMs?: unknown
  cacheScope?: unknown
}

export interface Listed extends CacheHint {
  entries: unknown[]
  /** More were left out. */
  isCut?: boolean
}

/** Something that can be asked for a list. */
export type Lister = {
  readonly about: ServerAbout
  request(method: string, params: object, options?: { signal?: AbortSignal }): Promise<unknown>
}

/**
 * A complete list of a server, unvalidated: in the SDK's `listTools`, one bad entry would spoil all. A list that is too long
 * is cut after the first entry over the limit.
 */
export async function listAll(link: Lister, kind: ListKind, signal?: AbortSignal): Promise<Listed> {
  const { method, field, capability } = LISTS[kind]
  const entries: unknown[] = []
  if (!link.about.capabilities[capability]) return { entries }
  const seen = new Set<unknown>([undefined])
  let cursor: unknown
  let characters = 0
  for (let page = 0; page < MAX_LIST_PAGES; page++) {
    const params = typeof cursor === 'string' ? { cursor } : {}
    const result = await link.request(method, params, signal && { signal })
    const listed = isRecord(result) ? result[field] : undefined
    if (!isRecord(result) || !Array.isArray(listed)) throw new Error(`its list of ${kind} is malformed`)
    await inSlices(listed.slice(0, MAX_TOOLS + 1 - entries.length), entry => {
      characters += charactersOf(entry)
      return characters <= MAX_LIST_CHARACTERS && entries.push(entry) > 0
    })
    cursor = result.nextCursor
    const isFull = entries.length > MAX_TOOLS || characters > MAX_LIST_CHARACTERS
    if (seen.has(cursor) || cursor === null || isFull)
      return { entries, ttlMs: result.ttlMs, cacheScope: result.cacheScope, isCut: isFull }
    seen.add(cursor)
  }
  throw new Error(`its list of ${kind} has more than ${MAX_LIST_PAGES} pages`)
}
