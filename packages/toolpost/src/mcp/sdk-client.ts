import type { Client, ClientOptions } from '@modelcontextprotocol/client'
import { isRecord } from '../runtime/guards.ts'
import { inSlices } from '../runtime/slices.ts'
import { toolpostVersion } from '../runtime/version.ts'
import { HEALTH_CHECK_MS, MAX_LIST_CHARACTERS, MAX_LIST_PAGES, MAX_TOOLS } from './limits.ts'
import { neededLogin } from './server-failure.ts'
import type { Requester, ServerAbout } from './server-link.ts'
import type { ServerRequests } from './server-requests.ts'
import { charactersOf } from './tool-definition.ts'

/** The MCP SDK, loaded at the first connection: it costs more than everything else of a short program. */
export function loadSdk(): Promise<typeof import('@modelcontextprotocol/client')> {
  return import('@modelcontextprotocol/client')
}

/** `legacy` begins with `initialize`, as servers have always been spoken to; `auto` asks for the newest protocol first. */
export type Negotiation = 'legacy' | 'auto'

export interface ClientEvents {
  notice(method: string, params: Readonly<Record<string, unknown>>): void
  /** Something that went wrong outside a request. */
  error(error: Error): void
  /** Whose doing a request of the server is, if that can be told. */
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
    // A refusal is a sign of life too.
    error => error instanceof ProtocolError || neededLogin(error) !== undefined,
  )
}

/** How Toolpost introduces itself to servers. */
function clientInfo(): { name: string; version: string } {
  return { name: 'toolpost', version: toolpostVersion() }
}

/** What every request of the newest protocol carries in `_meta`. */
export async function modernMeta(client: Client, capabilities: object): Promise<Record<string, unknown>> {
  const sdk = await loadSdk()
  return {
    [sdk.PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion(),
    [sdk.CLIENT_INFO_META_KEY]: clientInfo(),
    // Asked for in place of a result, and answered by the client that made the call; 2025 servers would act on it unasked.
    [sdk.CLIENT_CAPABILITIES_META_KEY]: { roots: {}, ...capabilities },
    ...(await loggingMeta()),
  }
}

/** Without it a server of the newest protocol logs nothing. */
async function loggingMeta(): Promise<Record<string, unknown>> {
  const { LOG_LEVEL_META_KEY } = await loadSdk()
  return { [LOG_LEVEL_META_KEY]: 'info' }
}

/** Lets every result through: what Toolpost needs of one it checks itself, and says in plain words. */
export const ANY_RESULT = {
  '~standard': { version: 1 as const, vendor: 'toolpost', validate: (value: unknown) => ({ value }) },
}

/** The lists that a server can have: the method that asks for one, and where its entries are. */
const LISTS = {
  tools: { method: 'tools/list', field: 'tools', capability: 'tools' },
  resources: { method: 'resources/list', field: 'resources', capability: 'resources' },
  templates: { method: 'resources/templates/list', field: 'resourceTemplates', capability: 'resources' },
  prompts: { method: 'prompts/list', field: 'prompts', capability: 'prompts' },
} as const

export type ListKind = keyof typeof LISTS

/** What a list can say beside its entries: how long it may be kept, and by whom. */
export interface CacheHint {
  ttlMs?: unknown
  cacheScope?: unknown
}

export interface Listed extends CacheHint {
  entries: unknown[]
  /** There are more. */
  isCut?: boolean
}

/** What can be asked for a list. */
export type Lister = {
  readonly about: ServerAbout
  request(method: string, params: object, options?: { signal?: AbortSignal }): Promise<unknown>
}

/**
 * A whole list of a server, as it describes it: not the SDK's `listTools`, for which one bad entry spoils all. One
 * that is too long is cut behind the first entry too many.
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
