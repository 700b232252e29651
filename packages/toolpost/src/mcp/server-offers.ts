import { withoutKnownSecretsIn } from '../logging/known-secrets.ts'
import { isRecord } from '../runtime/guards.ts'
import { shortText } from '../runtime/short-text.ts'
import type { ToolFailureError } from '../tools/tool-failure-error.ts'
import type { ConnectionLog } from './connection-log.ts'
import { type InputAnswers, inputRounds } from './input-rounds.ts'
import { LIST_TIMEOUT_MS, MAX_INSTRUCTIONS, MAX_TOOLS, REQUEST_TIMEOUT_MS } from './limits.ts'
import { type CacheHint, type ListKind, listAll } from './sdk-client.ts'
import { describeError, ServerLostError } from './server-failure.ts'
import type { LinkRequestOptions, Requester, ServerLink } from './server-link.ts'
import type { ServerRequests } from './server-requests.ts'
import type { ServerInfo } from './server-status.ts'
import { problemOfDefinition } from './tool-definition.ts'

/** What a server has beside tools. */
export type OfferKind = Exclude<ListKind, 'tools'>

/** A resource, a template or a prompt as its server describes it, known by `key`: its URI, its template or its name. */
export interface Offer {
  key: string
  entry: Readonly<Record<string, unknown>>
}

export interface OfferList extends CacheHint {
  offers: readonly Offer[]
}

export interface OfferEvents {
  /** A list is another one now. */
  changed(kind: 'resources' | 'prompts', server: string): void
  /** A resource that is followed changed. */
  updated(uri: string, server: string): void
}

/** What is needed of the server's connection. */
export interface OfferServer {
  readonly name: string
  readonly link: ServerLink | undefined
  readonly log: ConnectionLog
  readonly requests: ServerRequests
  unavailable(cause?: string): ToolFailureError
}

const KEYS = { resources: 'uri', templates: 'uriTemplate', prompts: 'name' } as const
const NOTHING: OfferList = { offers: [] }

/** The resources and prompts of one server. A list is read when somebody asks for it, and kept until it changes. */
export class ServerOffers {
  readonly #server: OfferServer
  readonly #events: OfferEvents
  readonly #lists = new Map<OfferKind, Promise<OfferList>>()
  /** By URI: resources that somebody follows, and what ends it on the connection that there is. */
  readonly #followed = new Map<string, { followers: number; stop: Promise<() => void> | undefined }>()

  constructor(server: OfferServer, events: OfferEvents) {
    this.#server = server
    this.#events = events
  }

  /** What the server says about itself, as far as it is shown. */
  get info(): ServerInfo | undefined {
    const about = this.#server.link?.about
    if (!about) return undefined
    const { name, title, version } = about.info ?? {}
    const texts = { name, title, version, instructions: about.instructions }
    const shown = Object.entries(texts).filter(
      (text): text is [string, string] => typeof text[1] === 'string',
    )
    return Object.fromEntries(
      shown.map(([key, text]) => [key, shortText(withoutKnownSecretsIn(text), MAX_INSTRUCTIONS)]),
    )
  }

  has(capability: string): boolean {
    return isRecord(this.#server.link?.about.capabilities[capability])
  }

  /** What the server lists; nothing if it cannot, or is not there. Never rejects. */
  list(kind: OfferKind): Promise<OfferList> {
    const { link } = this.#server
    if (!link) return Promise.resolve(NOTHING)
    const known = this.#lists.get(kind)
    if (known) return known
    const reading = this.#read(kind, link).catch(error => {
      if (this.#lists.get(kind) === reading) this.#lists.delete(kind)
      this.#server.log.problem(`The ${kind} of the server could not be listed: ${describeError(error)}`)
      return NOTHING
    })
    this.#lists.set(kind, reading)
    return reading
  }

  async #read(kind: OfferKind, link: ServerLink): Promise<OfferList> {
    const { entries, ...hint } = await listAll(link, kind, AbortSignal.timeout(LIST_TIMEOUT_MS))
    const byKey = new Map<string, Offer>()
    for (const entry of entries.slice(0, MAX_TOOLS)) {
      const problem = problemOfDefinition(entry, KEYS[kind], 'an entry')
      if (problem) this.#server.log.problem(`Left out of the ${kind}: ${problem}`)
      else {
        const clean = withoutKnownSecretsIn(entry) as Record<string, unknown>
        const key = String(clean[KEYS[kind]])
        byKey.set(key, { key, entry: clean })
      }
    }
    return { ...hint, offers: [...byKey.values()] }
  }

  /** Any request about them; the raw result. Rejects in words that say what ails the server. */
  async request(method: string, params: object, options: LinkRequestOptions = {}): Promise<unknown> {
    const { link, requests } = this.#server
    if (!link) throw this.#server.unavailable()
    const limit = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit
    const send = (answers?: InputAnswers) =>
      link.request(method, { ...params, ...answers }, { ...options, signal })
    try {
      return await inputRounds(await send(), send, { ...options, requests })
    } catch (error) {
      if (error instanceof ServerLostError) throw this.#server.unavailable(error.message)
      if (limit.aborted && error === limit.reason)
        throw this.#server.unavailable(`no answer to ${method} in ${REQUEST_TIMEOUT_MS} ms`)
      throw error
    }
  }

  /** Has the server tell when the resource changes, for as long as somebody wants to know; also after a reconnect. */
  async follow(uri: string): Promise<() => void> {
    const { link } = this.#server
    if (!link) throw this.#server.unavailable()
    const known = this.#followed.get(uri) ?? { followers: 0, stop: undefined }
    known.followers++
    known.stop ??= link.follow(uri)
    this.#followed.set(uri, known)
    const stop = () => this.#unfollow(uri)
    await known.stop.catch(error => {
      stop()
      throw error
    })
    let isOver = false
    return () => {
      if (!isOver) stop()
      isOver = true
    }
  }

  #unfollow(uri: string): void {
    const known = this.#followed.get(uri)
    if (!known || --known.followers > 0) return
    this.#followed.delete(uri)
    known.stop?.then(
      stop => stop(),
      () => {},
    )
  }

  /** A new connection: what was known of the old one may not hold. */
  adopt(link: ServerLink): void {
    this.#lists.clear()
    for (const [uri, known] of this.#followed) {
      known.stop = link.follow(uri)
      known.stop.catch(error =>
        this.#server.log.problem(`A resource cannot be followed: ${describeError(error)}`),
      )
    }
    for (const kind of ['resources', 'prompts'] as const)
      if (this.has(kind)) this.#events.changed(kind, this.#server.name)
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
    for (const each of stale) this.#lists.delete(each)
    this.#events.changed(kind, this.#server.name)
  }

  #onLog({ level, data, logger }: Readonly<Record<string, unknown>>, from: Requester | undefined): void {
    const { name, log } = this.#server
    log.message(String(level), data)
    from?.onLog?.({ level: String(level), data, logger: typeof logger === 'string' ? logger : name })
  }
}
