import { setTimeout as pause } from 'node:timers/promises'
import { isRecord } from '../util/guards.ts'
import { Listeners } from '../util/quietly.ts'
import { shortText } from '../util/text.ts'
import { LISTEN_GRACE_MS, MAX_INSTRUCTIONS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { INVALID_PARAMS, type Params, RpcError } from './peer.ts'
import { KEYS, type OfferKind } from './server-offers.ts'
import type { RequestOptions } from './session.ts'

type CatalogServer = Pick<McpServer, 'name' | 'offers'>

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

interface Found {
  server: CatalogServer
  key: string
}

interface Placed extends Found {
  as: string
  entry: Params
}

const NOT_FOUND = -32_002
/** Changes of a resource are reported once in this time. */
const CHANGE_PAUSE_MS = 50

/**
 * The resources and prompts of all servers together. A unique name is kept; of several equal ones the first in the
 * configuration keeps it, and the others become `server__prompt` or `server+uri`. A prefix always refers to its server.
 */
export class Catalog {
  #servers: () => readonly CatalogServer[] = () => []
  readonly #listeners = new Listeners<CatalogEvents>(() => {})
  readonly #updated = new Set<string>()

  show(servers: () => readonly CatalogServer[]): void {
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
    const field = ref.type === 'ref/prompt' ? 'name' : 'uri'
    const kind = field === 'name' ? 'prompts' : 'templates'
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
      if (this.#updated.has(uri)) return
      this.#updated.add(uri)
      setTimeout(() => {
        this.#updated.delete(uri)
        this.#listeners.tell('updated', uri)
      }, CHANGE_PAUSE_MS).unref()
    })
  }

  /** Sets the log level of all servers that support it, as a client wants it. It outlasts that client. */
  async setLogLevel(_client: object, level: string | undefined): Promise<void> {
    if (level === undefined) return
    // An unresponsive server must not hold up the client.
    const set = this.#servers().map(({ offers }) => offers.setLogLevel(level))
    await Promise.race([Promise.all(set), pause(LISTEN_GRACE_MS, undefined, { ref: false })])
  }

  instructions(mayUse: (server: string) => boolean = () => true): string | undefined {
    const given = this.#servers()
      .map(({ name, offers }) => ({ name, text: offers.info?.instructions?.trim() ?? '' }))
      .filter(({ name, text }) => text !== '' && mayUse(name))
    const parts = given.map(({ name, text }) => (given.length === 1 ? text : `# ${name}\n\n${text}`))
    return parts.length > 0 ? shortText(parts.join('\n\n'), MAX_INSTRUCTIONS) : undefined
  }

  async #all(kind: OfferKind): Promise<Placed[]> {
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
    const lengthOf = (server: CatalogServer) => prefixOf(kind, server).length
    const servers = this.#servers().filter(server => name.startsWith(prefixOf(kind, server)))
    const [server] = servers.sort((a, b) => lengthOf(b) - lengthOf(a))
    return server && { server, key: name.slice(lengthOf(server)) }
  }

  /** By its name here, or its own name with the server's prefix; a resource also by a template that it fits. */
  async #find(kind: OfferKind, name: string): Promise<Found | undefined> {
    const placed = await this.#all(kind)
    const addressed = this.#addressed(kind, name)
    const listed =
      placed.find(({ as }) => as === name) ??
      placed.find(({ server, key }) => server === addressed?.server && key === addressed.key)
    if (listed || kind === 'prompts') return listed
    if (kind === 'templates') return this.#find('resources', name)
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
function prefixOf(kind: OfferKind, { name }: CatalogServer): string {
  if (kind === 'prompts') return `${name}__`
  const plain = name.toLowerCase().replace(/[^a-z0-9.-]/g, '-')
  return /^[a-z]/.test(plain) ? `${plain}+` : `s${plain}+`
}

/** Whether a URI begins and ends like a template: enough to tell which server to ask. */
function fitsTemplate(uri: string, template: string): boolean {
  const [before = '', after = ''] = [template.split('{')[0], template.split('}').at(-1)]
  return uri.length >= before.length + after.length && uri.startsWith(before) && uri.endsWith(after)
}
