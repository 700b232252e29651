import { isRecord } from '../runtime/guards.ts'
import { Listeners } from '../runtime/listeners.ts'
import { shortText } from '../runtime/short-text.ts'
import { McpCallError } from './call-result.ts'
import { hintOf, KEYS, known, type Placed, prefixed } from './catalog-names.ts'
import { MAX_INSTRUCTIONS } from './limits.ts'
import { type CacheHint, loadSdk } from './sdk-client.ts'
import type { LinkRequestOptions } from './server-link.ts'
import type { OfferEvents, OfferKind, ServerOffers } from './server-offers.ts'

/** A server, as far as the catalog needs it. */
export interface CatalogServer {
  readonly name: string
  readonly offers: ServerOffers
}

/** Whether something of a server may be seen, by its own name or URI. */
export type Access = (server: string, key: string) => boolean

/** Of one list: what everybody has, under names that are told apart. */
export interface CatalogList extends CacheHint {
  entries: Readonly<Record<string, unknown>>[]
}

export interface CatalogOptions extends LinkRequestOptions {
  access?: Access | undefined
}

export interface CatalogEvents {
  resources: undefined
  prompts: undefined
  /** The URI of a resource that changed, as it is known here. */
  updated: string
}

const NOT_FOUND = -32_002
const INVALID_PARAMS = -32_602
const anybody: Access = () => true

/**
 * The resources and prompts of all servers together. What only one server has keeps its name; of several with the same
 * name the first in the configuration does, and the others are `server__prompt` and `server+uri`, which always work.
 */
export class Catalog {
  #servers: () => readonly CatalogServer[] = () => []
  readonly #listeners = new Listeners<CatalogEvents>(() => {})

  /** Shows the servers that there are from now on. */
  show(servers: () => readonly CatalogServer[]): void {
    this.#servers = servers
  }

  /** What servers tell it. */
  readonly events: OfferEvents = {
    changed: kind => this.#listeners.tell(kind, undefined),
    updated: (uri, server) => void this.#onUpdate(uri, server),
  }

  /** Returns a function that stops it. */
  readonly on: Listeners<CatalogEvents>['on'] = (event, listener) => this.#listeners.on(event, listener)

  async list(kind: OfferKind, access = anybody): Promise<CatalogList> {
    const { placed, hint } = await this.#placed(kind)
    const seen = placed.filter(({ server, key }) => access(server.name, key))
    return { ...hint, entries: seen.map(({ entry, as }) => ({ ...entry, [KEYS[kind]]: as })) }
  }

  /** `resources/read`, of whichever server has it. */
  async read(uri: string, options: CatalogOptions = {}): Promise<Record<string, unknown>> {
    const found = await this.#find(uri, options.access)
    const result = found
      ? await found.server.offers.request('resources/read', { uri: found.key }, options)
      : await this.#readAnywhere(uri, options)
    if (!isRecord(result) || !Array.isArray(result.contents))
      throw new Error('Malformed MCP result: a resource without contents')
    if (!found || found.key === uri) return result
    const contents = result.contents.map(each => (each?.uri === found.key ? { ...each, uri } : each))
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
      throw new Error('Malformed MCP result: a prompt without messages')
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
    const result = await found.server.offers.request(
      'completion/complete',
      { ...params, ref: inner },
      options,
    )
    if (!isRecord(result) || !isRecord(result.completion))
      throw new Error('Malformed MCP result: no completion')
    return result
  }

  /** Which of these URIs may be read. */
  async allowed(uris: readonly string[], access: Access): Promise<string[]> {
    const found = await Promise.all(uris.map(uri => this.#find(uri, access)))
    return uris.filter((_, at) => found[at])
  }

  /** Has `updated` told when the resource changes. Resolves to a function that ends it. */
  async follow(uri: string, access?: Access): Promise<() => void> {
    const found = await this.#find(uri, access)
    if (!found) throw notFound(uri)
    return found.server.offers.follow(found.key)
  }

  /** Has all servers log from `level` on, if they can. */
  async setLogLevel(level: string): Promise<void> {
    const loggers = this.#servers().filter(({ offers }) => offers.has('logging'))
    await Promise.allSettled(loggers.map(({ offers }) => offers.request('logging/setLevel', { level })))
  }

  /** What the servers say about how to use them. */
  instructions(mayUse: (server: string) => boolean = () => true): string | undefined {
    const told = this.#servers().flatMap(({ name, offers }) => {
      const text = mayUse(name) ? offers.info?.instructions?.trim() : undefined
      return text ? [{ name, text }] : []
    })
    if (told.length === 0) return undefined
    const parts =
      told.length === 1 ? told.map(({ text }) => text) : told.map(each => `# ${each.name}\n\n${each.text}`)
    return shortText(parts.join('\n\n'), MAX_INSTRUCTIONS)
  }

  async #placed(kind: OfferKind): Promise<{ placed: Placed[]; hint: CacheHint }> {
    const servers = this.#servers()
    const lists = await Promise.all(servers.map(({ offers }) => offers.list(kind)))
    const taken = new Set<string>()
    const placed = servers.flatMap((server, at) =>
      (lists[at]?.offers ?? []).map(offer => {
        const as = taken.has(offer.key) ? prefixed(kind, server.name, offer.key) : offer.key
        taken.add(as)
        return { ...offer, server, as }
      }),
    )
    return { placed, hint: hintOf(lists.filter(({ offers }) => offers.length > 0)) }
  }

  async #findPrompt(name: string, access = anybody): Promise<Placed> {
    const { placed } = await this.#placed('prompts')
    const found = known(placed, 'prompts', name)
    if (!found || !access(found.server.name, found.key))
      throw new McpCallError(`Prompt '${shortText(name, 200)}' not found`, { code: INVALID_PARAMS })
    return found
  }

  async #findTemplate(uri: string, access = anybody): Promise<Placed> {
    const { placed } = await this.#placed('templates')
    const found = known(placed, 'templates', uri) ?? (await this.#find(uri, access))
    if (!found || !access(found.server.name, found.key)) throw notFound(uri)
    return found
  }

  /** The resource of that URI: one that is listed, or one that a template stands for. */
  async #find(uri: string, access = anybody): Promise<Placed | undefined> {
    const { placed } = await this.#placed('resources')
    const found = known(placed, 'resources', uri) ?? (await this.#fromTemplate(uri)) ?? this.#addressed(uri)
    return found && access(found.server.name, found.key) ? found : undefined
  }

  async #fromTemplate(uri: string): Promise<Placed | undefined> {
    const { placed } = await this.#placed('templates')
    if (placed.length === 0) return undefined
    const { UriTemplate } = await loadSdk()
    const fitting = placed.find(({ as }) => {
      try {
        return new UriTemplate(as).match(uri) !== null
      } catch {
        return false
      }
    })
    if (!fitting) return undefined
    const key = fitting.as === fitting.key ? uri : uri.slice(fitting.as.length - fitting.key.length)
    return { ...fitting, key, as: uri }
  }

  /** `server+uri`, also of something that is not listed. */
  #addressed(uri: string): Placed | undefined {
    for (const server of this.#servers()) {
      const prefix = prefixed('resources', server.name, '')
      if (uri.startsWith(prefix)) return { key: uri.slice(prefix.length), entry: {}, server, as: uri }
    }
    return undefined
  }

  /** Tools give links to resources that no list has: the first server that knows it. */
  async #readAnywhere(uri: string, options: CatalogOptions): Promise<unknown> {
    const { access = anybody } = options
    let failure: unknown
    for (const { name, offers } of this.#servers()) {
      if (!offers.has('resources') || !access(name, uri)) continue
      try {
        return await offers.request('resources/read', { uri }, options)
      } catch (error) {
        failure ??= error
      }
    }
    throw failure instanceof McpCallError ? failure : notFound(uri)
  }

  async #onUpdate(uri: string, server: string): Promise<void> {
    const { placed } = await this.#placed('resources')
    const found = placed.find(each => each.server.name === server && each.key === uri)
    this.#listeners.tell('updated', found?.as ?? uri)
  }
}

function notFound(uri: string): McpCallError {
  return new McpCallError(`Resource not found: ${shortText(uri, 500)}`, { code: NOT_FOUND, data: { uri } })
}
