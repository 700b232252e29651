import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { coalesced } from '../util/clock.ts'
import { isRecord } from '../util/guards.ts'
import { Listeners } from '../util/quietly.ts'
import { shortText } from '../util/text.ts'
import { finalResult } from './final-result.ts'
import { MAX_INSTRUCTIONS, REQUEST_TIMEOUT_MS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { INVALID_PARAMS, type Params, RpcError } from './peer.ts'
import { describeError, ServerFailure } from './server-failure.ts'
import type { ListKind, RequestOptions, Session } from './session.ts'
import { problemOfDefinition } from './tool-definition.ts'

type OfferKind = Exclude<ListKind, 'tools'>
/** Resources, templates or prompts as their server describes them, by their URI, template or name. */
type OfferList = ReadonlyMap<string, Params>

const KEYS = { resources: 'uri', templates: 'uriTemplate', prompts: 'name' } as const
const NOTHING: OfferList = new Map()
const NOT_FOUND = -32_002
/** How long to wait for a list; and how soon it is read again if that failed, or if changes are not reported. */
const LIST_TIMEOUT_MS = 5_000

/** Whether an offer of a server may be seen; `key` is its own name or URI. */
export type Access = (server: string, key: string) => boolean

export interface CatalogList {
  entries: Params[]
}

interface CatalogOptions extends RequestOptions {
  access?: Access | undefined
}

interface CatalogEvents {
  resources: undefined
  prompts: undefined
  updated: string
}

/**
 * The resources and prompts of one server. A list is read on demand and kept until it changes; while the server is down it
 * stays as it was, like its tools.
 */
export class ServerOffers {
  /** The resources to hear of changes of, also after a reconnect, with what to call then. */
  readonly followed = new Map<string, Set<() => void>>()
  readonly #server: McpServer
  /** `until`: when it must be read again. */
  readonly #lists = new Map<OfferKind, { list: Promise<OfferList>; until: number }>()

  constructor(server: McpServer) {
    this.#server = server
  }

  has(capability: string): boolean {
    return isRecord(this.#server.session?.capabilities[capability])
  }

  /** What the server lists; nothing if it cannot, or was never connected. Never rejects. */
  async list(kind: OfferKind): Promise<OfferList> {
    const { session } = this.#server
    const known = this.#lists.get(kind)
    if (!session || (known && performance.now() < known.until)) return known?.list ?? NOTHING
    const soon = () => performance.now() + LIST_TIMEOUT_MS
    const list = this.#read(kind, session).catch(error => {
      kept.until = Math.min(kept.until, soon())
      this.#server.problem(`Could not list the server's ${kind}: ${describeError(error)}`)
      return known?.list ?? NOTHING
    })
    const isReported = session.tellsChangesOf(kind === 'prompts' ? kind : 'resources')
    const kept = { list, until: isReported ? Number.POSITIVE_INFINITY : soon() }
    this.#lists.set(kind, kept)
    return list
  }

  async #read(kind: OfferKind, session: Session): Promise<OfferList> {
    const offers = new Map<string, Params>()
    for (const entry of await session.list(kind, LIST_TIMEOUT_MS)) {
      const problem = problemOfDefinition(entry, KEYS[kind], 'an entry')
      if (problem) this.#server.problem(`Left out of the ${kind}: ${problem}`)
      const clean = withoutKnownSecretsIn(entry) as Params
      if (!problem) offers.set(String(clean[KEYS[kind]]), clean)
    }
    return offers
  }

  /** Sends a request about a resource or prompt, within a time limit that does not run while the caller is asked. */
  async request(method: string, params: object, { from, signal }: RequestOptions = {}): Promise<unknown> {
    const { session } = this.#server
    if (!session) throw this.#server.unavailable()
    try {
      return await finalResult(session, method, params, { from, signal, timeoutMs: REQUEST_TIMEOUT_MS })
    } catch (error) {
      throw error instanceof ServerFailure ? this.#server.unavailable(error.message) : error
    }
  }

  /** Calls `listener`, one of its own for each caller, when a resource changes. Resolves to a function that stops it. */
  async follow(uri: string, listener: () => void): Promise<() => void> {
    const { session } = this.#server
    if (!session) throw this.#server.unavailable()
    const listeners = this.followed.get(uri) ?? new Set()
    this.followed.set(uri, listeners.add(listener))
    const stop = () => {
      if (!listeners.delete(listener) || listeners.size > 0) return
      this.followed.delete(uri)
      this.#server.session?.follow(uri, false).catch(() => {})
    }
    await session.follow(uri, true).catch(error => {
      stop()
      throw error
    })
    return stop
  }

  forget(): void {
    this.#lists.clear()
    for (const kind of ['resources', 'prompts'] as const) this.#server.host.catalog.changed(kind)
  }

  changed(kind: 'resources' | 'prompts'): void {
    for (const [each, kept] of this.#lists) if ((each === 'prompts') === (kind === 'prompts')) kept.until = 0
    this.#server.host.catalog.changed(kind)
  }
}

interface Found {
  server: McpServer
  key: string
}

/**
 * The resources and prompts of all servers together. A unique name is kept; of several equal ones the first in the
 * configuration keeps it, and the others become `server__prompt` or `server+uri`. A prefix always refers to its server.
 */
export class Catalog {
  #servers: () => readonly McpServer[] = () => []
  readonly #listeners = new Listeners<CatalogEvents>(() => {})
  readonly #updated = new Set<string>()
  readonly #tellUpdates = coalesced(() => {
    for (const uri of this.#updated) this.#listeners.tell('updated', uri)
    this.#updated.clear()
  })

  show(servers: () => readonly McpServer[]): void {
    this.#servers = servers
  }

  changed(kind: 'resources' | 'prompts'): void {
    this.#listeners.tell(kind, undefined)
  }

  readonly on: Listeners<CatalogEvents>['on'] = (event, listener) => this.#listeners.on(event, listener)

  async list(kind: OfferKind, access?: Access): Promise<CatalogList> {
    const placed = await this.#all(kind)
    return { entries: placed.filter(each => this.#allows(each, access)).map(({ entry }) => entry) }
  }

  /** `resources/read`. Tools return links to unlisted resources: those are asked for at each server until one knows it. */
  async read(uri: string, options: CatalogOptions = {}): Promise<Record<string, unknown>> {
    const found = await this.#find('resources', uri)
    const having = this.#servers().filter(({ offers }) => offers.has('resources'))
    let failure: unknown
    for (const each of found ? [found] : having.map(server => ({ server, key: uri }))) {
      if (!this.#allows(each, options.access)) continue
      try {
        const given = await each.server.offers.request('resources/read', { uri: each.key }, options)
        const result = withList(given, 'contents', 'a resource without contents')
        const prefix = uri.slice(0, uri.length - each.key.length)
        const contents = result.contents.map(part =>
          isRecord(part) && typeof part.uri === 'string' ? { ...part, uri: `${prefix}${part.uri}` } : part,
        )
        return { ...result, contents }
      } catch (error) {
        options.signal?.throwIfAborted()
        if (found) throw error
        failure ??= error
      }
    }
    throw failure instanceof RpcError ? failure : notFound('resources', uri)
  }

  async prompt(name: string, args: Params | undefined, options: CatalogOptions = {}) {
    const { server, key } = await this.#findAllowed('prompts', name, options.access)
    const params = { name: key, ...(args && { arguments: args }) }
    const result = await server.offers.request('prompts/get', params, options)
    return withList(result, 'messages', 'a prompt without messages') as Record<string, unknown>
  }

  /** `completion/complete`, for an argument of a prompt or of a resource template. */
  async complete(params: Params, options: CatalogOptions = {}): Promise<Record<string, unknown>> {
    const ref = isRecord(params.ref) ? params.ref : {}
    const [field, kind] =
      ref.type === 'ref/prompt' ? (['name', 'prompts'] as const) : (['uri', 'templates'] as const)
    const { server, key } = await this.#findAllowed(kind, String(ref[field]), options.access)
    if (!server.offers.has('completions')) return { completion: { values: [] } }
    const asked = { ...params, ref: { ...ref, [field]: key } }
    const result = await server.offers.request('completion/complete', asked, options)
    withList(isRecord(result) && result.completion, 'values', 'a completion without values')
    return result as Record<string, unknown>
  }

  async allowed(uris: readonly string[], access: Access): Promise<string[]> {
    const found = await Promise.all(uris.map(uri => this.#find('resources', uri)))
    return uris.filter((_, at) => this.#allows(found[at], access))
  }

  /** Emits `updated` when the resource changes. Resolves to a function that unsubscribes. */
  async follow(uri: string, access?: Access): Promise<() => void> {
    const { server, key } = await this.#findAllowed('resources', uri, access)
    return server.offers.follow(key, () => {
      this.#updated.add(uri)
      this.#tellUpdates.soon()
    })
  }

  /** Sets the log level of all servers that support it. Does not wait for them: one may not respond. */
  setLogLevel(level: string): void {
    for (const { offers } of this.#servers())
      if (offers.has('logging')) offers.request('logging/setLevel', { level }).catch(() => {})
  }

  instructions(mayUse: (server: string) => boolean = () => true): string | undefined {
    const given = this.#servers()
      .map(({ name, session }) => ({ name, text: session?.info.instructions?.trim() ?? '' }))
      .filter(({ name, text }) => text !== '' && mayUse(name))
    const parts = given.map(({ name, text }) => (given.length === 1 ? text : `# ${name}\n\n${text}`))
    return parts.length > 0 ? shortText(parts.join('\n\n'), MAX_INSTRUCTIONS) : undefined
  }

  /** Everything of a kind, each with its name here. */
  async #all(kind: OfferKind): Promise<(Found & { as: string; entry: Params })[]> {
    const servers = [...this.#servers()]
    const lists = await Promise.all(servers.map(({ offers }) => offers.list(kind)))
    const taken = new Set<string>()
    return servers.flatMap((server, at) =>
      [...(lists[at] ?? [])].map(([key, entry]) => {
        const owner = this.#addressed(kind, key)?.server ?? server
        const as = owner === server && !taken.has(key) ? key : `${prefixOf(kind, server)}${key}`
        taken.add(as)
        return { server, key, as, entry: as === key ? entry : { ...entry, [KEYS[kind]]: as } }
      }),
    )
  }

  /** The server whose prefix a name has, with the rest of the name; of several, that with the longest. */
  #addressed(kind: OfferKind, name: string): Found | undefined {
    const prefixed = this.#servers().map(server => ({ server, prefix: prefixOf(kind, server) }))
    const fitting = prefixed.filter(({ prefix }) => name.startsWith(prefix))
    const [longest] = fitting.sort((a, b) => b.prefix.length - a.prefix.length)
    return longest && { server: longest.server, key: name.slice(longest.prefix.length) }
  }

  /** By its name here, or its own name with the server's prefix; a resource also by a template that it fits. */
  async #find(kind: OfferKind, name: string): Promise<Found | undefined> {
    const placed = await this.#all(kind)
    const addressed = this.#addressed(kind, name)
    const listed =
      placed.find(({ as }) => as === name) ??
      placed.find(({ server, key }) => server === addressed?.server && key === addressed.key)
    if (listed || kind === 'prompts') return listed
    const templates = await this.#all('templates')
    const fitting = templates.find(({ key }) => fitsTemplate(name, key))
    return addressed ?? (fitting && { server: fitting.server, key: name })
  }

  /** A name that starts with another server's prefix must not be taken for that server's. */
  #allows(found: Found | undefined, access: Access | undefined): found is Found {
    if (!found || !access) return found !== undefined
    const { server, key } = found
    const isBorrowed = this.#servers().some(({ name }) => name !== server.name && key.startsWith(`${name}__`))
    return access(server.name, isBorrowed ? `${server.name}__${key}` : key)
  }

  async #findAllowed(kind: OfferKind, name: string, access: Access | undefined): Promise<Found> {
    const found = await this.#find(kind, name)
    if (!this.#allows(found, access)) throw notFound(kind, name)
    return found
  }
}

/** Servers' results are checked for the list that every client relies on. */
function withList<Key extends string>(result: unknown, key: Key, problem: string) {
  if (isRecord(result) && Array.isArray(result[key]))
    return result as Record<string, unknown> & Record<Key, unknown[]>
  throw new RpcError(`Malformed MCP result: ${problem}`)
}

function notFound(kind: OfferKind, name: string): RpcError {
  if (kind === 'prompts')
    return new RpcError(`Prompt '${shortText(name, 200)}' not found`, { code: INVALID_PARAMS })
  return new RpcError(`Resource not found: ${shortText(name, 500)}`, { code: NOT_FOUND, data: { uri: name } })
}

/** A URI scheme allows no underscores, hence the `+`, as in `git+ssh:`. */
function prefixOf(kind: OfferKind, { name }: McpServer): string {
  if (kind === 'prompts') return `${name}__`
  const plain = name.toLowerCase().replace(/[^a-z0-9.-]/g, '-')
  return /^[a-z]/.test(plain) ? `${plain}+` : `s${plain}+`
}

/** Whether a URI begins and ends like a template: enough to tell which server to ask. */
function fitsTemplate(uri: string, template: string): boolean {
  const [before = '', after = ''] = [template.split('{')[0], template.split('}').at(-1)]
  return uri.length >= before.length + after.length && uri.startsWith(before) && uri.endsWith(after)
}
