import { setTimeout as pause } from 'node:timers/promises'
import { isRecord } from '../runtime/guards.ts'
import { Listeners } from '../runtime/listeners.ts'
import { shortText } from '../runtime/short-text.ts'
import { hintOf, Names, type Placed, TemplateMatch } from './catalog-names.ts'
import type { CacheHint, RequestOptions } from './connection.ts'
import { LISTEN_GRACE_MS, MAX_INSTRUCTIONS, UPDATE_PAUSE_MS } from './limits.ts'
import { INVALID_PARAMS, RpcError } from './peer.ts'
import type { OfferEvents, OfferKind, OfferList, ServerOffers } from './server-offers.ts'

/** What the catalog needs from a server. */
export interface CatalogServer {
  readonly name: string
  readonly offers: ServerOffers
}

/** Whether an offer of a server may be seen; `key` is its own name or URI. */
export type Access = (server: string, key: string) => boolean

/** The offers of all servers, under unique names. */
export interface CatalogList extends CacheHint {
  entries: Readonly<Record<string, unknown>>[]
}

export interface CatalogOptions extends RequestOptions {
  access?: Access | undefined
}

export interface CatalogEvents {
  resources: undefined
  prompts: undefined
  /** The URI of a followed resource that changed, as its followers know it. */
  updated: string
}

interface Known {
  servers: readonly CatalogServer[]
  lists: readonly OfferList[]
  names: Names
}

type Found = Pick<Placed, 'server' | 'key'>

const NOT_FOUND = -32_002

/** The resources and prompts of all servers together; `Names` says what they are called. */
export class Catalog {
  #servers: () => readonly CatalogServer[] = () => []
  readonly #known = new Map<OfferKind, Known>()
  readonly #matches = new WeakMap<Placed, TemplateMatch>()
  readonly #listeners = new Listeners<CatalogEvents>(() => {})
  readonly #followed = new Followed(uri => this.#listeners.tell('updated', uri))
  readonly #levels = new LogLevels()

  /** Sets where to get the servers from. */
  show(servers: () => readonly CatalogServer[]): void {
    this.#servers = servers
  }

  /** Notifications from the servers. */
  readonly events: OfferEvents = {
    changed: kind => this.#listeners.tell(kind, undefined),
    updated: (uri, server) => this.#followed.changed(server, uri),
  }

  /** Subscribes; returns a function that unsubscribes. */
  readonly on: Listeners<CatalogEvents>['on'] = (event, listener) => this.#listeners.on(event, listener)

  async list(kind: OfferKind, access?: Access): Promise<CatalogList> {
    const { names, lists } = await this.#all(kind)
    const hint = hintOf(lists.filter(({ offers }) => offers.length > 0))
    const entries: CatalogList['entries'] = []
    for (const placed of names.placed) if (this.#allows(placed, access)) entries.push(placed.entry)
    // A filtered list must not go into a shared cache.
    return { ...hint, ...(access && { cacheScope: 'private' }), entries }
  }

  /** `resources/read`, from whichever server has it. */
  async read(uri: string, options: CatalogOptions = {}): Promise<Record<string, unknown>> {
    const found = await this.#find(uri)
    if (found && !this.#allows(found, options.access)) throw notFound(uri)
    const result = found
      ? await found.server.offers.request('resources/read', { uri: found.key }, options)
      : await this.#readAnywhere(uri, options)
    if (!isRecord(result) || !Array.isArray(result.contents))
      throw new RpcError('Malformed MCP result: a resource without contents')
    if (!found || found.key === uri) return result
    const prefix = uri.endsWith(found.key) ? uri.slice(0, -found.key.length) : ''
    const contents = result.contents.map(each => {
      if (!isRecord(each) || typeof each.uri !== 'string') return each
      return { ...each, uri: each.uri === found.key ? uri : `${prefix}${each.uri}` }
    })
    return { ...result, contents }
  }

  /** `prompts/get`. */
  async prompt(
    name: string,
    args: Readonly<Record<string, unknown>> | undefined,
    options: CatalogOptions = {},
  ): Promise<Record<string, unknown>> {
    const { server, key } = await this.#findPrompt(name, options.access)
    const params = { name: key, ...(args && { arguments: args }) }
    const result = await server.offers.request('prompts/get', params, options)
    if (!isRecord(result) || !Array.isArray(result.messages))
      throw new RpcError('Malformed MCP result: a prompt without messages')
    return result
  }

  /** `completion/complete`, for an argument of a prompt or of a resource template. */
  async complete(
    params: Readonly<Record<string, unknown>>,
    options: CatalogOptions = {},
  ): Promise<Record<string, unknown>> {
    const ref = isRecord(params.ref) ? params.ref : {}
    const isPrompt = ref.type === 'ref/prompt'
    const found = isPrompt
      ? await this.#findPrompt(String(ref.name), options.access)
      : await this.#findTemplate(String(ref.uri), options.access)
    if (!found.server.offers.has('completions')) return { completion: { values: [] } }
    const inner = isPrompt ? { ...ref, name: found.key } : { ...ref, uri: found.key }
    const asked = { ...params, ref: inner }
    const result = await found.server.offers.request('completion/complete', asked, options)
    if (!isRecord(result) || !isRecord(result.completion) || !Array.isArray(result.completion.values))
      throw new RpcError('Malformed MCP result: a completion without values')
    return result
  }

  /** Which of these URIs may be read. */
  async allowed(uris: readonly string[], access: Access): Promise<string[]> {
    const found = await Promise.all(uris.map(uri => this.#find(uri)))
    return uris.filter((_, at) => this.#allows(found[at], access))
  }

  /** Emits `updated` when the resource changes. Resolves to a function that unsubscribes. */
  async follow(uri: string, access?: Access): Promise<() => void> {
    const found = await this.#find(uri)
    if (!this.#allows(found, access)) throw notFound(uri)
    const stop = await found.server.offers.follow(found.key)
    const forget = this.#followed.add(found.server.name, found.key, uri)
    return () => {
      forget()
      stop()
    }
  }

  /** Sets the servers' log level for this client, if they support it; `undefined` withdraws it. */
  async setLogLevel(client: object, level: string | undefined): Promise<void> {
    if (!this.#levels.set(client, level)) return
    const told = this.#servers().map(({ offers }) => offers.setLogLevel(this.#levels.lowest))
    // An unresponsive server must not hold up the client.
    await Promise.race([Promise.all(told), pause(LISTEN_GRACE_MS, undefined, { ref: false })])
  }

  /** The servers' own instructions. */
  instructions(mayUse: (server: string) => boolean = () => true): string | undefined {
    const told = this.#servers().filter(({ name, offers }) => offers.info?.instructions && mayUse(name))
    return instructionsOf(told.map(({ name, offers }) => ({ name, text: offers.info?.instructions ?? '' })))
  }

  async #all(kind: OfferKind): Promise<{ names: Names; lists: readonly OfferList[] }> {
    const servers = [...this.#servers()]
    const lists = await Promise.all(servers.map(({ offers }) => offers.list(kind)))
    let known = this.#known.get(kind)
    if (!known || !isSame(known.servers, servers) || !isSame(known.lists, lists)) {
      known = { servers, lists, names: new Names(kind, servers, lists) }
      this.#known.set(kind, known)
    }
    return { names: known.names, lists }
  }

  /** A name that starts with another server's prefix must not be taken for that server's. */
  #allows(found: Found | undefined, access: Access | undefined): found is Found {
    if (!found || !access) return found !== undefined
    const { server, key } = found
    const isBorrowed = this.#servers().some(({ name }) => name !== server.name && key.startsWith(`${name}__`))
    return access(server.name, isBorrowed ? `${server.name}__${key}` : key)
  }

  async #findPrompt(name: string, access: Access | undefined): Promise<Found> {
    const { names } = await this.#all('prompts')
    const found = names.find(name)
    if (!this.#allows(found, access))
      throw new RpcError(`Prompt '${shortText(name, 200)}' not found`, { code: INVALID_PARAMS })
    return found
  }

  async #findTemplate(uri: string, access: Access | undefined): Promise<Found> {
    const { names } = await this.#all('templates')
    const found = names.find(uri) ?? (await this.#find(uri))
    if (!this.#allows(found, access)) throw notFound(uri)
    return found
  }

  /** The resource with this URI: a listed one, one with a server's prefix, or one that matches a template. */
  async #find(uri: string): Promise<Found | undefined> {
    const { names } = await this.#all('resources')
    return names.find(uri) ?? names.addressed(uri)[0] ?? this.#fromTemplate(uri)
  }

  async #fromTemplate(uri: string): Promise<Found | undefined> {
    const { names } = await this.#all('templates')
    const found = names.placed.find(template => {
      const match = this.#matches.get(template) ?? new TemplateMatch(template.key)
      this.#matches.set(template, match)
      return match.fits(uri)
    })
    return found && { server: found.server, key: uri }
  }

  /** Tools return links to unlisted resources: asks each server until one knows it. */
  async #readAnywhere(uri: string, options: CatalogOptions): Promise<unknown> {
    let failure: unknown
    for (const server of this.#servers()) {
      const { offers } = server
      if (!offers.has('resources') || !this.#allows({ server, key: uri }, options.access)) continue
      try {
        return await offers.request('resources/read', { uri }, options)
      } catch (error) {
        options.signal?.throwIfAborted()
        failure ??= error
      }
    }
    throw failure instanceof RpcError ? failure : notFound(uri)
  }
}

function isSame<T>(before: readonly T[], now: readonly T[]): boolean {
  return before.length === now.length && before.every((each, at) => each === now[at])
}

function notFound(uri: string): RpcError {
  return new RpcError(`Resource not found: ${shortText(uri, 500)}`, { code: NOT_FOUND, data: { uri } })
}

/** The instructions of several servers as one text. */
function instructionsOf(servers: readonly { name: string; text: string }[]): string | undefined {
  const told = servers
    .map(({ name, text }) => ({ name, text: text.trim() }))
    .filter(({ text }) => text !== '')
  const parts = told.map(({ name, text }) => (told.length === 1 ? text : `# ${name}\n\n${text}`))
  return parts.length > 0 ? shortText(parts.join('\n\n'), MAX_INSTRUCTIONS) : undefined
}

/** The followed resources: for each server and URI, the URIs under which its followers know it. */
class Followed {
  readonly #tell: (uri: string) => void
  readonly #known = new Map<string, Map<string, number>>()
  readonly #changed = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(tell: (uri: string) => void) {
    this.#tell = tell
  }

  /** Returns a function that removes it. */
  add(server: string, key: string, uri: string): () => void {
    const id = idOf(server, key)
    const followers = this.#known.get(id) ?? new Map<string, number>()
    this.#known.set(id, followers.set(uri, (followers.get(uri) ?? 0) + 1))
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = (followers.get(uri) ?? 0) - 1
      if (left > 0) followers.set(uri, left)
      else followers.delete(uri)
      if (followers.size === 0) this.#known.delete(id)
    }
  }

  /** Reports a change; several in quick succession are reported once. */
  changed(server: string, key: string): void {
    for (const uri of this.#known.get(idOf(server, key))?.keys() ?? []) this.#changed.add(uri)
    if (this.#timer || this.#changed.size === 0) return
    this.#timer = setTimeout(() => {
      const changed = [...this.#changed]
      this.#timer = undefined
      this.#changed.clear()
      for (const uri of changed) this.#tell(uri)
    }, UPDATE_PAUSE_MS).unref()
  }
}

function idOf(server: string, key: string): string {
  return JSON.stringify([server, key])
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** The log level each client wants. Servers have only one for all: the lowest. */
class LogLevels {
  readonly #wanted = new Map<object, string>()

  /** `undefined` if no client has set one. */
  get lowest(): string | undefined {
    const wanted = [...this.#wanted.values()].map(level => LEVELS.indexOf(level))
    return wanted.length > 0 ? LEVELS[Math.min(...wanted)] : undefined
  }

  /** Returns whether the lowest level changed; `undefined` withdraws the client's level. */
  set(client: object, level: string | undefined): boolean {
    const before = this.lowest
    if (level === undefined) this.#wanted.delete(client)
    else if (LEVELS.includes(level)) this.#wanted.set(client, level)
    return before !== this.lowest
  }
}
