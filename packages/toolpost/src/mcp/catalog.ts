import { setTimeout as pause } from 'node:timers/promises'
import { isRecord } from '../util/guards.ts'
import { Listeners } from '../util/quietly.ts'
import { shortText } from '../util/text.ts'
import { LISTEN_GRACE_MS, MAX_INSTRUCTIONS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { INVALID_PARAMS, type Params, RpcError } from './peer.ts'
import { KEYS, type OfferKind, type OfferList } from './server-offers.ts'
import type { RequestOptions } from './session.ts'

type CatalogServer = Pick<McpServer, 'name' | 'offers'>

/** Whether an offer of a server may be seen; `key` is its own name or URI. */
export type Access = (server: string, key: string) => boolean

export interface CatalogList {
  entries: Params[]
}

export interface CatalogOptions extends RequestOptions {
  access?: Access | undefined
}

export interface CatalogEvents {
  resources: undefined
  prompts: undefined
  updated: string
}

/** An offer of a server, by its own name or URI. */
interface Found {
  server: CatalogServer
  key: string
}

/** `as` is its name here. */
interface Placed extends Found {
  as: string
  entry: Params
}

/** What was made of the servers' lists. */
interface Known {
  lists: readonly OfferList[]
  placed: Placed[]
}

const NOT_FOUND = -32_002
/** Changes are batched for this long. */
const CHANGE_PAUSE_MS = 50
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/**
 * The resources and prompts of all servers together. A unique name is kept; of several equal ones the first in the
 * configuration keeps it, and the others become `server__prompt` or `server+uri`. A prefix always refers to its server.
 */
export class Catalog {
  #servers: () => readonly CatalogServer[] = () => []
  readonly #listeners = new Listeners<CatalogEvents>(() => {})
  readonly #changes = new Map<string, () => void>()
  readonly #known = new Map<OfferKind, Known>()
  /** The log level each client wants. Servers have only one for all: the lowest. */
  readonly #levels = new Map<object, number>()

  show(servers: () => readonly CatalogServer[]): void {
    this.#servers = servers
  }

  changed(kind: 'resources' | 'prompts'): void {
    this.#reportSoon(kind, () => this.#listeners.tell(kind, undefined))
  }

  readonly on: Listeners<CatalogEvents>['on'] = (event, listener) => this.#listeners.on(event, listener)

  async list(kind: OfferKind, access?: Access): Promise<CatalogList> {
    const { placed } = await this.#all(kind)
    return { entries: placed.filter(each => this.#allows(each, access)).map(({ entry }) => entry) }
  }

  /** `resources/read`. Tools return links to unlisted resources: those are asked for at each server until one knows it. */
  async read(uri: string, options: CatalogOptions = {}): Promise<Record<string, unknown>> {
    const found = await this.#find(uri)
    const anywhere = this.#servers().flatMap(server =>
      server.offers.has('resources') ? [{ server, key: uri }] : [],
    )
    let failure: unknown
    for (const { server, key } of found ? [found] : anywhere) {
      if (!this.#allows({ server, key }, options.access)) continue
      try {
        const given = await server.offers.request('resources/read', { uri: key }, options)
        const result = withList(given, 'contents', 'a resource without contents')
        const prefix = uri.slice(0, uri.length - key.length)
        const contents = result.contents.map(each =>
          isRecord(each) && typeof each.uri === 'string' ? { ...each, uri: `${prefix}${each.uri}` } : each,
        )
        return { ...result, contents }
      } catch (error) {
        options.signal?.throwIfAborted()
        if (found) throw error
        failure ??= error
      }
    }
    throw failure instanceof RpcError ? failure : notFound(uri)
  }

  async prompt(
    name: string,
    args: Params | undefined,
    options: CatalogOptions = {},
  ): Promise<Record<string, unknown>> {
    const { server, key } = await this.#findPrompt(name, options.access)
    const params = { name: key, ...(args && { arguments: args }) }
    const result = await server.offers.request('prompts/get', params, options)
    return withList(result, 'messages', 'a prompt without messages')
  }

  /** `completion/complete`, for an argument of a prompt or of a resource template. */
  async complete(params: Params, options: CatalogOptions = {}): Promise<Record<string, unknown>> {
    const ref = isRecord(params.ref) ? params.ref : {}
    const isPrompt = ref.type === 'ref/prompt'
    const { server, key } = isPrompt
      ? await this.#findPrompt(String(ref.name), options.access)
      : await this.#findResource(String(ref.uri), options.access, 'templates')
    if (!server.offers.has('completions')) return { completion: { values: [] } }
    const asked = { ...params, ref: { ...ref, ...(isPrompt ? { name: key } : { uri: key }) } }
    const result = await server.offers.request('completion/complete', asked, options)
    withList(isRecord(result) && result.completion, 'values', 'a completion without values')
    return result as Record<string, unknown>
  }

  async allowed(uris: readonly string[], access: Access): Promise<string[]> {
    const found = await Promise.all(uris.map(uri => this.#find(uri)))
    return uris.filter((_, at) => this.#allows(found[at], access))
  }

  /** Emits `updated` when the resource changes. Resolves to a function that unsubscribes. */
  async follow(uri: string, access?: Access): Promise<() => void> {
    const found = await this.#findResource(uri, access)
    const report = () => this.#listeners.tell('updated', uri)
    return found.server.offers.follow(found.key, () => this.#reportSoon(`updated ${uri}`, report))
  }

  #reportSoon(what: string, report: () => void): void {
    if (this.#changes.size === 0)
      setTimeout(() => {
        const changes = [...this.#changes.values()]
        this.#changes.clear()
        for (const each of changes) each()
      }, CHANGE_PAUSE_MS).unref()
    this.#changes.set(what, report)
  }

  /** Sets the servers' log level for this client, if they support it; `undefined` withdraws it. */
  async setLogLevel(client: object, level: string | undefined): Promise<void> {
    const lowest = () => LEVELS[Math.min(...this.#levels.values())]
    const before = lowest()
    if (level === undefined) this.#levels.delete(client)
    else if (LEVELS.includes(level)) this.#levels.set(client, LEVELS.indexOf(level))
    if (lowest() === before) return
    const set = this.#servers().map(({ offers }) => offers.setLogLevel(lowest()))
    // An unresponsive server must not hold up the client.
    await Promise.race([Promise.all(set), pause(LISTEN_GRACE_MS, undefined, { ref: false })])
  }

  instructions(mayUse: (server: string) => boolean = () => true): string | undefined {
    const given = this.#servers()
      .map(({ name, offers }) => ({ name, text: offers.info?.instructions?.trim() ?? '' }))
      .filter(({ name, text }) => text !== '' && mayUse(name))
    const parts = given.map(({ name, text }) => (given.length === 1 ? text : `# ${name}\n\n${text}`))
    return parts.length > 0 ? shortText(parts.join('\n\n'), MAX_INSTRUCTIONS) : undefined
  }

  async #all(kind: OfferKind): Promise<Known> {
    const servers = [...this.#servers()]
    const lists = await Promise.all(servers.map(({ offers }) => offers.list(kind)))
    const known = this.#known.get(kind)
    if (known?.lists.length === lists.length && lists.every((list, at) => list === known.lists[at]))
      return known
    const taken = new Set<string>()
    const isFree = (name: string, owner: CatalogServer) =>
      !taken.has(name) && this.#addressed(kind, name).every(({ server }) => server === owner)
    const placed = servers.flatMap((server, at) =>
      [...(lists[at] ?? [])].map(([key, entry]) => {
        const as = isFree(key, server) ? key : `${prefixOf(kind, server)}${key}`
        taken.add(as)
        return { server, key, as, entry: as === key ? entry : { ...entry, [KEYS[kind]]: as } }
      }),
    )
    const all = { placed, lists }
    this.#known.set(kind, all)
    return all
  }

  /** The servers whose prefix a name has, with the rest of the name; longest prefix first. */
  #addressed(kind: OfferKind, name: string): Found[] {
    return this.#servers()
      .map(server => ({ server, prefix: prefixOf(kind, server) }))
      .filter(({ prefix }) => name.startsWith(prefix))
      .sort((a, b) => b.prefix.length - a.prefix.length)
      .map(({ server, prefix }) => ({ server, key: name.slice(prefix.length) }))
  }

  /** By its name here, or by its own name with the server's prefix. */
  async #named(kind: OfferKind, name: string): Promise<Placed | undefined> {
    const { placed } = await this.#all(kind)
    const addressed = this.#addressed(kind, name)
    return placed.find(
      ({ as, server, key }) =>
        as === name || addressed.some(each => each.server === server && each.key === key),
    )
  }

  /** A name that starts with another server's prefix must not be taken for that server's. */
  #allows(found: Found | undefined, access: Access | undefined): found is Found {
    if (!found || !access) return found !== undefined
    const { server, key } = found
    const isBorrowed = this.#servers().some(({ name }) => name !== server.name && key.startsWith(`${name}__`))
    return access(server.name, isBorrowed ? `${server.name}__${key}` : key)
  }

  async #findPrompt(name: string, access: Access | undefined): Promise<Found> {
    const found = await this.#named('prompts', name)
    if (!this.#allows(found, access))
      throw new RpcError(`Prompt '${shortText(name, 200)}' not found`, { code: INVALID_PARAMS })
    return found
  }

  async #findResource(uri: string, access: Access | undefined, kind?: 'templates'): Promise<Found> {
    const found = (kind && (await this.#named(kind, uri))) ?? (await this.#find(uri))
    if (!this.#allows(found, access)) throw notFound(uri)
    return found
  }

  /** The resource with this URI: a listed one, one with a server's prefix, or one that matches a template. */
  async #find(uri: string): Promise<Found | undefined> {
    const listed = (await this.#named('resources', uri)) ?? this.#addressed('resources', uri)[0]
    if (listed) return listed
    const { placed } = await this.#all('templates')
    const template = placed.find(({ key }) => fitsTemplate(uri, key))
    return template && { server: template.server, key: uri }
  }
}

/** Servers' results are checked for the list that every client relies on. */
function withList<Key extends string>(result: unknown, key: Key, problem: string) {
  if (isRecord(result) && Array.isArray(result[key]))
    return result as Record<string, unknown> & Record<Key, unknown[]>
  throw new RpcError(`Malformed MCP result: ${problem}`)
}

function notFound(uri: string): RpcError {
  return new RpcError(`Resource not found: ${shortText(uri, 500)}`, { code: NOT_FOUND, data: { uri } })
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
