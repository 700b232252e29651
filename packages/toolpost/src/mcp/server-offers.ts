import { setTimeout as pause } from 'node:timers/promises'
import { withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeValue } from '../logging/safe-value.ts'
import { isRecord } from '../runtime/guards.ts'
import { shortText } from '../runtime/short-text.ts'
import { QUESTION_MS, type Requester } from '../tools/caller.ts'
import type { CacheHint, Connection, ListKind, RequestOptions, ServerAbout } from './connection.ts'
import {
  LIST_KEPT_MS,
  LIST_MAX_PAUSE_MS,
  LIST_PAUSE_MS,
  LIST_TIMEOUT_MS,
  MAX_INSTRUCTIONS,
  MAX_LOG_CHARACTERS,
  MAX_TOOLS,
  REQUEST_TIMEOUT_MS,
} from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { type InputAnswers, inputRounds } from './mcp-tool.ts'
import { describeError, ServerLostError } from './server-failure.ts'
import type { ServerInfo } from './server-status.ts'
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

/** The field that names an offer. */
export const KEYS = { resources: 'uri', templates: 'uriTemplate', prompts: 'name' } as const

const NOTHING: OfferList = { offers: [] }
/** A server's log level if no client has set one. */
const DEFAULT_LEVEL = 'info'

interface Subscription {
  followers: number
  /** Ends it on the current connection; `undefined` if the server refused it. */
  stop: Promise<() => void> | undefined
}

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
  readonly #server: McpServer
  readonly #events: OfferEvents
  readonly #lists = new Map<OfferKind, Kept>()
  readonly #changes: Record<'resources' | 'prompts', Paced>
  #about: { of: ServerAbout; info: ServerInfo } | undefined
  #level: string | undefined
  /** The followed resources: each is subscribed to once, however many followers it has. */
  readonly #followed = new Map<string, Subscription>()

  constructor(server: McpServer, events: OfferEvents) {
    this.#server = server
    this.#events = events
    const paced = (kind: 'resources' | 'prompts') => new Paced(() => events.changed(kind, server.name))
    this.#changes = { resources: paced('resources'), prompts: paced('prompts') }
  }

  /** What is shown of the server's own description. */
  get info(): ServerInfo | undefined {
    const about = this.#server.connection?.about
    if (!about) return undefined
    if (this.#about?.of !== about) this.#about = { of: about, info: infoOf(about) }
    return this.#about.info
  }

  has(capability: string): boolean {
    return isRecord(this.#server.connection?.about.capabilities[capability])
  }

  /** What the server lists; nothing if it cannot, or was never connected. Never rejects. */
  list(kind: OfferKind): Promise<OfferList> {
    const { connection } = this.#server
    const known = this.#lists.get(kind)
    if (!connection) return known?.list ?? Promise.resolve(NOTHING)
    if (known && performance.now() < known.until) return known.list
    const before = known?.list ?? Promise.resolve(NOTHING)
    const late = pause(LIST_TIMEOUT_MS, undefined, { ref: false }).then(() => before)
    const kept: Kept = { until: Number.POSITIVE_INFINITY, list: before }
    const reading = this.#readInto(kept, kind, connection).catch(error => {
      kept.until = performance.now() + LIST_KEPT_MS
      this.#server.log.problem(`Could not list the server's ${kind}: ${describeError(error)}`)
      return before
    })
    kept.list = Promise.race([reading, late])
    this.#lists.set(kind, kept)
    return kept.list
  }

  /** Reports a change if the list arrived too late for those who asked. */
  async #readInto(kept: Kept, kind: OfferKind, connection: Connection): Promise<OfferList> {
    const began = performance.now()
    const list = await this.#read(kind, connection)
    kept.list = Promise.resolve(list)
    const now = performance.now()
    kept.until = Math.min(kept.until, now + this.#keptMs(kind, list))
    if (now - began >= LIST_TIMEOUT_MS) this.#changes[kind === 'prompts' ? kind : 'resources'].due()
    return list
  }

  /** Forever, if the server reports changes and gives no time. */
  #keptMs(kind: OfferKind, { ttlMs }: OfferList): number {
    const capability = this.#server.connection?.about.capabilities[kind === 'prompts' ? kind : 'resources']
    const isTold = isRecord(capability) && capability.listChanged === true
    if (isTold && timeOf(ttlMs) === 0) return Number.POSITIVE_INFINITY
    return Math.max(timeOf(ttlMs), LIST_KEPT_MS)
  }

  async #read(kind: OfferKind, connection: Connection): Promise<OfferList> {
    const { log } = this.#server
    const { entries, isCut, ...hint } = await connection.list(kind, AbortSignal.timeout(REQUEST_TIMEOUT_MS))
    const byKey = new Map<string, Offer>()
    for (const entry of entries.slice(0, MAX_TOOLS)) {
      const problem = problemOfDefinition(entry, KEYS[kind], 'an entry')
      if (problem) {
        log.problem(`Left out of the ${kind}: ${problem}`)
        continue
      }
      const clean = withoutKnownSecretsIn(entry) as Record<string, unknown>
      const key = String(clean[KEYS[kind]])
      byKey.set(key, { key, entry: clean })
    }
    if (isCut) log.problem(`The server lists too many ${kind}; the rest is left out`)
    return { ...hint, offers: [...byKey.values()] }
  }

  /** Sends a request about a resource or prompt; resolves to the raw result. */
  async request(method: string, params: object, options: RequestOptions = {}): Promise<unknown> {
    const { connection, requests } = this.#server
    if (!connection) throw this.#server.unavailable()
    const limit = new RequestLimit(REQUEST_TIMEOUT_MS, options.signal)
    const within = { from: limit.around(options.from), signal: limit.signal }
    const send = (answers?: InputAnswers) => connection.request(method, { ...params, ...answers }, within)
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
    const { connection } = this.#server
    if (!connection) throw this.#server.unavailable()
    const known = this.#followed.get(uri) ?? { followers: 0, stop: undefined }
    this.#followed.set(uri, known)
    known.followers++
    let isOver = false
    const remove = () => {
      if (isOver || --known.followers > 0) return
      isOver = true
      this.#followed.delete(uri)
      known.stop?.then(stop => stop()).catch(() => {})
    }
    try {
      await this.#subscribe(uri, known, connection)
      return remove
    } catch (error) {
      remove()
      throw error
    }
  }

  /** A refusal is forgotten, so that the next follower asks again. */
  async #subscribe(uri: string, known: Subscription, connection: Connection): Promise<void> {
    known.stop ??= connection.follow(uri)
    const { stop } = known
    try {
      await stop
    } catch (error) {
      if (known.stop === stop) known.stop = undefined
      throw error
    }
  }

  /** A new connection: what was known from the old one may no longer hold. */
  adopt(connection: Connection): void {
    for (const kept of this.#lists.values()) kept.until = 0
    for (const [uri, known] of this.#followed) {
      known.stop = undefined
      this.#subscribe(uri, known, connection).catch(error =>
        this.#server.log.problem(`Could not subscribe to a resource: ${describeError(error)}`),
      )
    }
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

/** What is shown of a server's own description. Shortened before it is searched for secrets, since it can be very long. */
function infoOf({ info, instructions }: ServerAbout): ServerInfo {
  const { name, title, version } = info ?? {}
  const texts = Object.entries({ name, title, version, instructions })
  const shown = texts.filter((text): text is [string, string] => typeof text[1] === 'string')
  return Object.fromEntries(
    shown.map(([key, text]) => {
      const clean = withoutKnownSecretsIn(text.slice(0, 2 * MAX_INSTRUCTIONS))
      return [key, shortText(clean, MAX_INSTRUCTIONS)]
    }),
  )
}

/** Notifies immediately, then less and less often while changes keep coming. */
class Paced {
  readonly #tell: () => void
  #timer: NodeJS.Timeout | undefined
  #isDue = false

  constructor(tell: () => void) {
    this.#tell = tell
  }

  due(): void {
    this.#isDue = true
    if (!this.#timer) this.#next(LIST_PAUSE_MS)
  }

  #next(pauseMs: number): void {
    this.#timer = undefined
    if (!this.#isDue) return
    this.#isDue = false
    this.#timer = setTimeout(() => this.#next(Math.min(2 * pauseMs, LIST_MAX_PAUSE_MS)), pauseMs).unref()
    this.#tell()
  }
}

/** Limits how long a server may take for a request, not counting the time its caller takes to answer questions. */
class RequestLimit {
  readonly #ms: number
  readonly #given: AbortSignal | undefined
  readonly #controller = new AbortController()
  readonly #giveUp = () => this.#controller.abort(this.#given?.reason)
  #timer: NodeJS.Timeout | undefined
  #questions = 0
  /** Whether the server took too long. */
  hasPassed = false

  constructor(ms: number, given: AbortSignal | undefined) {
    this.#ms = ms
    this.#given = given
    if (given?.aborted) this.#giveUp()
    given?.addEventListener('abort', this.#giveUp)
    this.#arm(ms)
  }

  /** Aborts at the limit, or when the caller gives up. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The same requester, with the limit paused while a question is open. */
  around(from: Requester | undefined): Requester | undefined {
    const { ask, sample } = from ?? {}
    return (
      from && {
        peer: from.peer,
        onLog: from.onLog,
        hold: wait => this.#during(wait),
        ...(ask && { ask: question => this.#during(() => ask(question)) }),
        ...(sample && { sample: (params, options) => this.#during(() => sample(params, options)) }),
      }
    )
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#given?.removeEventListener('abort', this.#giveUp)
  }

  async #during<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#questions++ === 0) this.#arm(QUESTION_MS + this.#ms)
    try {
      return await ask()
    } finally {
      if (--this.#questions === 0) this.#arm(this.#ms)
    }
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer)
    if (this.signal.aborted) return
    this.#timer = setTimeout(() => {
      this.hasPassed = true
      this.#controller.abort(new Error(`no answer within ${this.#ms} ms`))
    }, ms).unref()
  }
}

/** Sanitizes the milliseconds a server gives, which may be anything. */
export function timeOf(ttlMs: unknown): number {
  return typeof ttlMs === 'number' && ttlMs > 0 ? Math.floor(Math.min(ttlMs, Number.MAX_SAFE_INTEGER)) : 0
}
