import { withoutKnownSecretsIn } from '../logging/redact.ts'
import type { Requester } from '../tools/caller.ts'
import { isRecord } from '../util/guards.ts'
import { shortText } from '../util/short-text.ts'
import type { Connection, ListKind, RequestOptions } from './connection.ts'
import { MAX_INSTRUCTIONS, REQUEST_TIMEOUT_MS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { type InputAnswers, inputRounds } from './mcp-tool.ts'
import { describeError, ServerLostError } from './server-failure.ts'
import type { ServerInfo } from './server-status.ts'
import { problemOfDefinition } from './tool-definition.ts'

/** What a server offers besides tools. */
export type OfferKind = Exclude<ListKind, 'tools'>

/** A resource, template or prompt as its server describes it; `key` is its URI, template or name. */
interface Offer {
  key: string
  entry: Readonly<Record<string, unknown>>
}

export interface OfferList {
  offers: readonly Offer[]
  /** How long, and by whom, it may be cached. */
  ttlMs: number
  isPublic: boolean
}

export interface OfferEvents {
  /** A list changed. */
  changed(kind: 'resources' | 'prompts'): void
}

/** The field that names an offer. */
export const KEYS = { resources: 'uri', templates: 'uriTemplate', prompts: 'name' } as const

const NOTHING: OfferList = { offers: [], ttlMs: 0, isPublic: true }
/** A server's log level if no client has set one. */
const DEFAULT_LEVEL = 'info'
/** How long to wait for a list; and how soon it is read again if that failed, or if the server does not say. */
const LIST_TIMEOUT_MS = 5_000
/** A longer log message is shortened. */
const MAX_LOG_CHARACTERS = 64 * 1024

interface Followed {
  listeners: Set<() => void>
  /** Ends the subscription on the current connection; `undefined` if the server refused it. */
  stop: Promise<() => void> | undefined
}

/**
 * The resources and prompts of one server. A list is read on demand and kept until it changes; while the server is down it
 * stays as it was, like its tools.
 */
export class ServerOffers {
  readonly #server: McpServer
  readonly #events: OfferEvents
  /** `until`: when it must be read again. */
  readonly #lists = new Map<OfferKind, { list: Promise<OfferList>; until: number }>()
  #level: string | undefined
  /** Each resource is subscribed to once, however many follow it. */
  readonly #followed = new Map<string, Followed>()

  constructor(server: McpServer, events: OfferEvents) {
    this.#server = server
    this.#events = events
  }

  /** What is shown of the server's own description. */
  get info(): ServerInfo | undefined {
    const { connection } = this.#server
    if (!connection) return undefined
    const { name, title, version } = connection.info
    const texts = Object.entries({ name, title, version, instructions: connection.instructions })
    return Object.fromEntries(
      texts.flatMap(([key, text]) =>
        typeof text === 'string'
          ? [[key, shortText(withoutKnownSecretsIn(text.slice(0, 2 * MAX_INSTRUCTIONS)), MAX_INSTRUCTIONS)]]
          : [],
      ),
    )
  }

  has(capability: string): boolean {
    return isRecord(this.#server.connection?.capabilities[capability])
  }

  /** What the server lists; nothing if it cannot, or was never connected. Never rejects. */
  list(kind: OfferKind): Promise<OfferList> {
    const { connection } = this.#server
    const known = this.#lists.get(kind)
    const before = known?.list ?? Promise.resolve(NOTHING)
    if (!connection || (known && performance.now() < known.until)) return before
    const kept = { until: Number.POSITIVE_INFINITY, list: before }
    this.#lists.set(kind, kept)
    const keepFor = (ms: number) => {
      kept.until = Math.min(kept.until, performance.now() + ms)
    }
    kept.list = this.#read(kind, connection).then(
      list => {
        // Forever, if the server reports changes and gives no time.
        const isTold = connection.tellsChangesOf(kind === 'prompts' ? kind : 'resources')
        if (!isTold || list.ttlMs > 0) keepFor(Math.max(list.ttlMs, LIST_TIMEOUT_MS))
        return list
      },
      error => {
        keepFor(LIST_TIMEOUT_MS)
        this.#server.problem(`Could not list the server's ${kind}: ${describeError(error)}`)
        return before
      },
    )
    return kept.list
  }

  async #read(kind: OfferKind, connection: Connection): Promise<OfferList> {
    const { entries, isCut, ttlMs, cacheScope } = await connection.list(
      kind,
      AbortSignal.timeout(LIST_TIMEOUT_MS),
    )
    const byKey = new Map<string, Offer>()
    for (const entry of entries) {
      const problem = problemOfDefinition(entry, KEYS[kind], 'an entry')
      if (problem) this.#server.problem(`Left out of the ${kind}: ${problem}`)
      if (problem) continue
      const clean = withoutKnownSecretsIn(entry) as Record<string, unknown>
      const key = String(clean[KEYS[kind]])
      byKey.set(key, { key, entry: clean })
    }
    if (isCut) this.#server.problem(`The server lists too many ${kind}; the rest is left out`)
    const ms = typeof ttlMs === 'number' && ttlMs > 0 ? Math.floor(Math.min(ttlMs, 2 ** 52)) : 0
    return { offers: [...byKey.values()], ttlMs: ms, isPublic: cacheScope === 'public' }
  }

  /** Sends a request about a resource or prompt, within a time limit that does not run while the caller is asked. */
  async request(
    method: string,
    params: object,
    { from, signal: given }: RequestOptions = {},
  ): Promise<unknown> {
    const { connection, requests } = this.#server
    if (!connection) throw this.#server.unavailable()
    const limit = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const arm = () => {
      timer = setTimeout(() => limit.abort(), REQUEST_TIMEOUT_MS).unref()
    }
    const hold = async <T>(ask: () => Promise<T>): Promise<T> => {
      clearTimeout(timer)
      return ask().finally(arm)
    }
    const signal = given ? AbortSignal.any([given, limit.signal]) : limit.signal
    const within = { from: from && heldBy(hold, from), signal }
    const send = (answers?: InputAnswers) => connection.request(method, { ...params, ...answers }, within)
    arm()
    try {
      return await inputRounds(await send(), send, { ...within, requests })
    } catch (error) {
      if (error instanceof ServerLostError) throw this.#server.unavailable(error.message)
      if (limit.signal.aborted)
        throw this.#server.unavailable(`no answer to ${method} within ${REQUEST_TIMEOUT_MS} ms`)
      throw error
    } finally {
      clearTimeout(timer)
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
    const { connection } = this.#server
    if (!connection) throw this.#server.unavailable()
    const followed = this.#followed.get(uri) ?? { listeners: new Set(), stop: undefined }
    const own = () => listener()
    this.#followed.set(uri, followed)
    followed.listeners.add(own)
    const remove = () => {
      if (!followed.listeners.delete(own) || followed.listeners.size > 0) return
      this.#followed.delete(uri)
      followed.stop?.then(stop => stop()).catch(() => {})
    }
    try {
      await this.#subscribe(uri, followed, connection)
      return remove
    } catch (error) {
      remove()
      throw error
    }
  }

  /** A refusal is forgotten, so that the next follower asks again. */
  async #subscribe(uri: string, followed: Followed, connection: Connection): Promise<void> {
    followed.stop ??= connection.follow(uri)
    const { stop } = followed
    try {
      await stop
    } catch (error) {
      if (followed.stop === stop) followed.stop = undefined
      throw error
    }
  }

  /** A new connection: what was known from the old one may no longer hold. */
  adopt(connection: Connection): void {
    for (const kept of this.#lists.values()) kept.until = 0
    for (const [uri, followed] of this.#followed) {
      followed.stop = undefined
      this.#subscribe(uri, followed, connection).catch(error =>
        this.#server.problem(`Could not subscribe to a resource: ${describeError(error)}`),
      )
    }
    if (this.#level !== undefined) void this.setLogLevel(this.#level)
    for (const kind of ['resources', 'prompts'] as const) if (this.has(kind)) this.#events.changed(kind)
  }

  /** The server is gone for good. */
  forget(): void {
    const had = this.#lists.size > 0
    this.#lists.clear()
    for (const kind of ['resources', 'prompts'] as const) if (had) this.#events.changed(kind)
  }

  /** A notification that is not about tools. */
  notice(method: string, params: Readonly<Record<string, unknown>>, from: Requester | undefined): void {
    if (method === 'notifications/message') this.#onLog(params, from)
    if (method === 'notifications/resources/list_changed')
      this.#onChange('resources', ['resources', 'templates'])
    if (method === 'notifications/prompts/list_changed') this.#onChange('prompts', ['prompts'])
    if (method === 'notifications/resources/updated')
      for (const listener of this.#followed.get(String(params.uri))?.listeners ?? []) listener()
  }

  #onChange(kind: 'resources' | 'prompts', stale: readonly OfferKind[]): void {
    for (const each of stale) {
      const kept = this.#lists.get(each)
      if (kept) kept.until = 0
    }
    this.#events.changed(kind)
  }

  #onLog({ level, data, logger }: Readonly<Record<string, unknown>>, from: Requester | undefined): void {
    const known = typeof level === 'string' ? level : 'info'
    this.#server.message(known, data)
    if (!from?.onLog) return
    const text = JSON.stringify(data) ?? ''
    const shown = text.length > MAX_LOG_CHARACTERS ? `${text.slice(0, MAX_LOG_CHARACTERS)}…` : data
    from.onLog({
      level: known,
      data: withoutKnownSecretsIn(shown),
      logger: typeof logger === 'string' ? logger : this.#server.name,
    })
  }
}

/** The same caller, whose answers are awaited within `hold`. */
function heldBy(hold: <T>(ask: () => Promise<T>) => Promise<T>, from: Requester): Requester {
  const { peer, onLog, ask, sample, roots } = from
  return {
    peer,
    onLog,
    roots,
    hold,
    ...(ask && { ask: question => hold(() => ask(question)) }),
    ...(sample && { sample: (params, options) => hold(() => sample(params, options)) }),
  }
}
