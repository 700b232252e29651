import { setTimeout as pause } from 'node:timers/promises'
import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeValue } from '../logging/safe-value.ts'
import { isRecord } from '../runtime/guards.ts'
import { inSlices } from '../runtime/slices.ts'
import type { ToolFailureError } from '../tools/tool-failure-error.ts'
import { KEYS, timeOf } from './catalog-names.ts'
import type { ConnectionLog } from './connection-log.ts'
import { type InputAnswers, inputRounds } from './input-rounds.ts'
import { LIST_KEPT_MS, LIST_TIMEOUT_MS, MAX_LOG_CHARACTERS, MAX_TOOLS, REQUEST_TIMEOUT_MS } from './limits.ts'
import { Paced } from './paced.ts'
import { RequestLimit } from './request-limit.ts'
import { type CacheHint, type ListKind, listAll } from './sdk-client.ts'
import { describeError, ServerLostError } from './server-failure.ts'
import { infoOf } from './server-info.ts'
import type { LinkRequestOptions, Requester, ServerAbout, ServerLink } from './server-link.ts'
import type { ServerRequests } from './server-requests.ts'
import type { ServerInfo } from './server-status.ts'
import { Subscriptions } from './subscriptions.ts'
import { charactersOf, problemOfDefinition } from './tool-definition.ts'

/** What a server offers besides tools. */
export type OfferKind = Exclude<ListKind, 'tools'>

/** A resource, template or prompt as its server describes it; `key` is its URI, template or name. */
export interface Offer {
  key: string
  entry: Readonly<Record<string, unknown>>
}

export interface OfferList extends CacheHint {
  offers: readonly Offer[]
}

export interface OfferEvents {
  /** A list changed. */
  changed(kind: 'resources' | 'prompts', server: string): void
  /** A followed resource changed. */
  updated(uri: string, server: string): void
}

/** What is needed from the server's connection. */
export interface OfferServer {
  readonly name: string
  readonly link: ServerLink | undefined
  readonly log: ConnectionLog
  readonly requests: ServerRequests
  unavailable(cause?: string): ToolFailureError
}

const NOTHING: OfferList = { offers: [] }
/** A server's log level if no client has set one. */
const DEFAULT_LEVEL = 'info'

interface Kept {
  list: Promise<OfferList>
  /** When it must be read again. */
  until: number
}

/**
 * The resources and prompts of one server. A list is read on demand and kept until it changes; while the server is down it
 * stays as it was, like its tools.
 */
export class ServerOffers {
  readonly #server: OfferServer
  readonly #events: OfferEvents
  readonly #lists = new Map<OfferKind, Kept>()
  readonly #changes: Record<'resources' | 'prompts', Paced>
  #about: { of: ServerAbout; info: ServerInfo } | undefined
  #level: string | undefined
  readonly #followed = new Subscriptions()

  constructor(server: OfferServer, events: OfferEvents) {
    this.#server = server
    this.#events = events
    const paced = (kind: 'resources' | 'prompts') => new Paced(() => events.changed(kind, server.name))
    this.#changes = { resources: paced('resources'), prompts: paced('prompts') }
  }

  /** What is shown of the server's own description. */
  get info(): ServerInfo | undefined {
    const about = this.#server.link?.about
    if (!about) return undefined
    if (this.#about?.of !== about) this.#about = { of: about, info: infoOf(about) }
    return this.#about.info
  }

  has(capability: string): boolean {
    return isRecord(this.#server.link?.about.capabilities[capability])
  }

  /** What the server lists; nothing if it cannot, or was never connected. Never rejects. */
  list(kind: OfferKind): Promise<OfferList> {
    const { link } = this.#server
    const known = this.#lists.get(kind)
    if (!link) return known?.list ?? Promise.resolve(NOTHING)
    if (known && performance.now() < known.until) return known.list
    const before = known?.list ?? Promise.resolve(NOTHING)
    const late = pause(LIST_TIMEOUT_MS, undefined, { ref: false }).then(() => before)
    const kept: Kept = { until: Number.POSITIVE_INFINITY, list: before }
    const reading = this.#readInto(kept, kind, link).catch(error => {
      kept.until = performance.now() + LIST_KEPT_MS
      this.#server.log.problem(`Could not list the server's ${kind}: ${describeError(error)}`)
      return before
    })
    kept.list = Promise.race([reading, late])
    this.#lists.set(kind, kept)
    return kept.list
  }

  /** Reports a change if the list arrived too late for those who asked. */
  async #readInto(kept: Kept, kind: OfferKind, link: ServerLink): Promise<OfferList> {
    const began = performance.now()
    const list = await this.#read(kind, link)
    kept.list = Promise.resolve(list)
    const now = performance.now()
    kept.until = Math.min(kept.until, now + this.#keptMs(kind, list))
    if (now - began >= LIST_TIMEOUT_MS) this.#changes[kind === 'prompts' ? kind : 'resources'].due()
    return list
  }

  /** Forever, if the server reports changes and gives no time. */
  #keptMs(kind: OfferKind, { ttlMs }: OfferList): number {
    const capability = this.#server.link?.about.capabilities[kind === 'prompts' ? kind : 'resources']
    const isTold = isRecord(capability) && capability.listChanged === true
    if (isTold && timeOf(ttlMs) === 0) return Number.POSITIVE_INFINITY
    return Math.max(timeOf(ttlMs), LIST_KEPT_MS)
  }

  async #read(kind: OfferKind, link: ServerLink): Promise<OfferList> {
    const { log } = this.#server
    const { entries, isCut, ...hint } = await listAll(link, kind, AbortSignal.timeout(REQUEST_TIMEOUT_MS))
    const byKey = new Map<string, Offer>()
    await inSlices(entries.slice(0, MAX_TOOLS), entry => {
      const problem = problemOfDefinition(entry, KEYS[kind], 'an entry')
      if (problem) return log.problem(`Left out of the ${kind}: ${problem}`)
      const clean = withoutKnownSecretsIn(entry) as Record<string, unknown>
      const key = String(clean[KEYS[kind]])
      byKey.set(key, { key, entry: clean })
    })
    if (isCut) log.problem(`The server lists too many ${kind}; the rest is left out`)
    return { ...hint, offers: [...byKey.values()] }
  }

  /** Sends a request about a resource or prompt; resolves to the raw result. */
  async request(method: string, params: object, options: LinkRequestOptions = {}): Promise<unknown> {
    const { link, requests } = this.#server
    if (!link) throw this.#server.unavailable()
    const limit = new RequestLimit(REQUEST_TIMEOUT_MS, options.signal)
    const within = { from: limit.around(options.from), signal: limit.signal }
    const send = (answers?: InputAnswers) => link.request(method, { ...params, ...answers }, within)
    try {
      return await inputRounds(await send(), send, { ...within, requests })
    } catch (error) {
      if (error instanceof ServerLostError) throw this.#server.unavailable(error.message)
      if (limit.hasPassed)
        throw this.#server.unavailable(`no answer to ${method} within ${REQUEST_TIMEOUT_MS} ms`)
      throw error
    } finally {
      limit.end()
    }
  }

  /** Sets the server's log level, also after a reconnect; `undefined` for the default. Never rejects. */
  async setLogLevel(level: string | undefined): Promise<void> {
    this.#level = level
    if (this.has('logging'))
      await this.request('logging/setLevel', { level: level ?? DEFAULT_LEVEL }).catch(() => {})
  }

  /** Subscribes to changes of a resource, while there are followers, also after a reconnect. */
  async follow(uri: string): Promise<() => void> {
    const { link } = this.#server
    if (!link) throw this.#server.unavailable()
    return this.#followed.add(uri, link)
  }

  /** A new connection: what was known from the old one may no longer hold. */
  adopt(link: ServerLink): void {
    for (const kept of this.#lists.values()) kept.until = 0
    this.#followed.renew(link, error =>
      this.#server.log.problem(`Could not subscribe to a resource: ${describeError(error)}`),
    )
    if (this.#level !== undefined) void this.setLogLevel(this.#level)
    for (const kind of ['resources', 'prompts'] as const) if (this.has(kind)) this.#changes[kind].due()
  }

  /** The server is gone for good. */
  forget(): void {
    const kinds = new Set([...this.#lists.keys()].map(kind => (kind === 'prompts' ? kind : 'resources')))
    this.#lists.clear()
    for (const kind of kinds) this.#events.changed(kind, this.#server.name)
  }

  /** A notification that is not about tools. */
  notice(method: string, params: Readonly<Record<string, unknown>>, from: Requester | undefined): void {
    if (method === 'notifications/message') this.#onLog(params, from)
    if (method === 'notifications/resources/list_changed')
      this.#onChange('resources', ['resources', 'templates'])
    if (method === 'notifications/prompts/list_changed') this.#onChange('prompts', ['prompts'])
    if (method === 'notifications/resources/updated' && typeof params.uri === 'string')
      this.#events.updated(params.uri, this.#server.name)
  }

  #onChange(kind: 'resources' | 'prompts', stale: readonly OfferKind[]): void {
    for (const each of stale) {
      const kept = this.#lists.get(each)
      if (kept) kept.until = 0
    }
    this.#changes[kind].due()
  }

  #onLog(params: Readonly<Record<string, unknown>>, from: Requester | undefined): void {
    const { name, log } = this.#server
    const { level, data, logger } = params
    const known = typeof level === 'string' ? level : 'info'
    log.message(known, data)
    if (!from?.onLog) return
    const isShort = charactersOf({ data }) <= MAX_LOG_CHARACTERS
    const shown = isShort ? withoutKnownSecretsIn(data) : safeValue(data)
    from.onLog({ level: known, data: shown, logger: typeof logger === 'string' ? logger : name })
  }
}
