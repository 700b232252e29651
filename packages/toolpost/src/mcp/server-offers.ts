import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText, safeValue } from '../logging/safe-value.ts'
import type { Requester } from '../tools/caller.ts'
import { isRecord } from '../util/guards.ts'
import { shortText } from '../util/text.ts'
import type { Catalog } from './catalog.ts'
import { MAX_INSTRUCTIONS, REQUEST_TIMEOUT_MS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { type InputAnswers, inputRounds } from './mcp-tool.ts'
import type { Params } from './peer.ts'
import { describeError, ServerFailure } from './server-failure.ts'
import type { ServerInfo } from './server-status.ts'
import type { ListKind, RequestOptions, Session } from './session.ts'
import { problemOfDefinition } from './tool-definition.ts'

export type OfferKind = Exclude<ListKind, 'tools'>

/** Resources, templates or prompts as their server describes them, by their URI, template or name. */
export type OfferList = ReadonlyMap<string, Params>

/** The field that names an offer. */
export const KEYS = { resources: 'uri', templates: 'uriTemplate', prompts: 'name' } as const

const NOTHING: OfferList = new Map()
/** A server's log level if no client has set one. */
const DEFAULT_LEVEL = 'info'
/** Maps the levels of MCP, which are those of syslog, to ours. */
const LEVELS = { debug: 'debug', info: 'info', notice: 'info', warning: 'warn' } as const
/** How long to wait for a list; and how soon it is read again if that failed, or if changes are not reported. */
const LIST_TIMEOUT_MS = 5_000
const MAX_LOG_CHARACTERS = 64 * 1024

interface Followed {
  listeners: Set<() => void>
  /** Ends the subscription on the current session; `undefined` if the server refused it. */
  stop: Promise<() => void> | undefined
}

/**
 * The resources and prompts of one server. A list is read on demand and kept until it changes; while the server is down it
 * stays as it was, like its tools.
 */
export class ServerOffers {
  readonly #server: McpServer
  readonly #catalog: Catalog
  /** `until`: when it must be read again. */
  readonly #lists = new Map<OfferKind, { list: Promise<OfferList>; until: number }>()
  #level: string | undefined
  /** Each resource is subscribed to once, however many follow it. */
  readonly #followed = new Map<string, Followed>()

  constructor(server: McpServer, catalog: Catalog) {
    this.#server = server
    this.#catalog = catalog
  }

  /** What is shown of the server's own description. */
  get info(): ServerInfo | undefined {
    const { session } = this.#server
    if (!session) return undefined
    const { name, title, version, instructions } = session.info
    const texts = Object.entries({ name, title, version, instructions })
    const shown = (text: string) =>
      shortText(withoutKnownSecretsIn(text.slice(0, 2 * MAX_INSTRUCTIONS)), MAX_INSTRUCTIONS)
    return Object.fromEntries(
      texts.flatMap(([key, text]) => (typeof text === 'string' ? [[key, shown(text)]] : [])),
    )
  }

  has(capability: string): boolean {
    return isRecord(this.#server.session?.capabilities[capability])
  }

  /** What the server lists; nothing if it cannot, or was never connected. Never rejects. */
  async list(kind: OfferKind): Promise<OfferList> {
    const { session } = this.#server
    const known = this.#lists.get(kind)
    if (!session || (known && performance.now() < known.until)) return known?.list ?? NOTHING
    const soon = performance.now() + LIST_TIMEOUT_MS
    const isReported = session.tellsChangesOf(kind === 'prompts' ? kind : 'resources')
    const list = this.#read(kind, session).catch(error => {
      kept.until = Math.min(kept.until, performance.now() + LIST_TIMEOUT_MS)
      this.#server.problem(`Could not list the server's ${kind}: ${describeError(error)}`)
      return known?.list ?? NOTHING
    })
    const kept = { list, until: isReported ? Number.POSITIVE_INFINITY : soon }
    this.#lists.set(kind, kept)
    return list
  }

  async #read(kind: OfferKind, session: Session): Promise<OfferList> {
    const { entries, isCut } = await session.list(kind, AbortSignal.timeout(LIST_TIMEOUT_MS))
    const offers = new Map<string, Params>()
    for (const entry of entries) {
      const problem = problemOfDefinition(entry, KEYS[kind], 'an entry')
      if (problem) this.#server.problem(`Left out of the ${kind}: ${problem}`)
      const clean = withoutKnownSecretsIn(entry) as Params
      if (!problem) offers.set(String(clean[KEYS[kind]]), clean)
    }
    if (isCut) this.#server.problem(`The server lists too many ${kind}; the rest is left out`)
    return offers
  }

  /** Sends a request about a resource or prompt, within a time limit that does not run while the caller is asked. */
  async request(method: string, params: object, { from, signal }: RequestOptions = {}): Promise<unknown> {
    const { session, requests } = this.#server
    if (!session) throw this.#server.unavailable()
    const send = (answers?: InputAnswers) => {
      const limit = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
      const either = signal ? AbortSignal.any([signal, limit]) : limit
      return session.request(method, { ...params, ...answers }, { from, signal: either })
    }
    try {
      return await inputRounds(await send(), send, { from, signal, requests })
    } catch (error) {
      if (error instanceof ServerFailure) throw this.#server.unavailable(error.message)
      if (error instanceof DOMException && error.name === 'TimeoutError')
        throw this.#server.unavailable(`no answer to ${method} within ${REQUEST_TIMEOUT_MS} ms`)
      throw error
    }
  }

  /** Sets the server's log level, also after a reconnect; `undefined` for the default. Never rejects. */
  async setLogLevel(level: string | undefined): Promise<void> {
    this.#level = level
    if (this.has('logging'))
      await this.request('logging/setLevel', { level: level ?? DEFAULT_LEVEL }).catch(() => {})
  }

  /** Calls `listener` when a resource changes, also after a reconnect. Resolves to a function that stops it. */
  async follow(uri: string, listener: () => void): Promise<() => void> {
    const { session } = this.#server
    if (!session) throw this.#server.unavailable()
    const followed = this.#followed.get(uri) ?? { listeners: new Set(), stop: undefined }
    const own = () => listener()
    this.#followed.set(uri, followed)
    followed.listeners.add(own)
    const remove = () => {
      if (!followed.listeners.delete(own) || followed.listeners.size > 0) return
      this.#followed.delete(uri)
      followed.stop?.then(stop => stop()).catch(() => {})
    }
    await this.#subscribe(uri, followed, session).catch(error => {
      remove()
      throw error
    })
    return remove
  }

  /** A refusal is forgotten, so that the next follower asks again. */
  async #subscribe(uri: string, followed: Followed, session: Session): Promise<void> {
    followed.stop ??= session.follow(uri)
    const { stop } = followed
    await stop.catch(error => {
      if (followed.stop === stop) followed.stop = undefined
      throw error
    })
  }

  /** A new session: what was known from the old one may no longer hold. */
  adopt(session: Session): void {
    for (const [uri, followed] of this.#followed) {
      followed.stop = undefined
      this.#subscribe(uri, followed, session).catch(error =>
        this.#server.problem(`Could not subscribe to a resource: ${describeError(error)}`),
      )
    }
    if (this.#level !== undefined) void this.setLogLevel(this.#level)
    for (const kind of ['resources', 'prompts'] as const) this.#onChange(kind, this.has(kind))
  }

  forget(): void {
    const had = this.#lists.size > 0
    this.#lists.clear()
    for (const kind of ['resources', 'prompts'] as const) this.#onChange(kind, had)
  }

  #onChange(kind: 'resources' | 'prompts', isReported: boolean): void {
    for (const [each, kept] of this.#lists) if ((each === 'prompts') === (kind === 'prompts')) kept.until = 0
    if (isReported) this.#catalog.changed(kind)
  }

  onNotification(method: string, params: Params, from: Requester | undefined): void {
    if (method === 'notifications/message') this.#onLog(params, from)
    if (method === 'notifications/resources/list_changed') this.#onChange('resources', true)
    if (method === 'notifications/prompts/list_changed') this.#onChange('prompts', true)
    if (method === 'notifications/resources/updated')
      for (const listener of this.#followed.get(String(params.uri))?.listeners ?? []) listener()
  }

  /** Logs what the server logs through the protocol, and passes it on to whoever made the call. */
  #onLog({ level: given, data, logger }: Params, from: Requester | undefined): void {
    const level = typeof given === 'string' ? given : 'info'
    const ours = Object.hasOwn(LEVELS, level) ? LEVELS[level as keyof typeof LEVELS] : 'error'
    this.#server.log.write(ours, `Log messages from an MCP server (${ours})`, () => {
      const shown = safeValue(data)
      const text = typeof shown === 'string' ? shown : (JSON.stringify(shown) ?? '')
      return [{ data: shown }, `MCP server: ${safeText(text)}`]
    })
    if (!from?.onLog) return
    const text = JSON.stringify(data) ?? ''
    const shown = text.length > MAX_LOG_CHARACTERS ? `${text.slice(0, MAX_LOG_CHARACTERS)}…` : data
    const name = typeof logger === 'string' ? logger : this.#server.name
    from.onLog({ level, data: withoutKnownSecretsIn(shown), logger: name })
  }
}
