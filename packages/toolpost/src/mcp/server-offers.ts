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
type OfferList = ReadonlyMap<string, Params>

export const KEYS = { resources: 'uri', templates: 'uriTemplate', prompts: 'name' } as const

const NOTHING: OfferList = new Map()
/** Maps the levels of MCP, which are those of syslog, to ours. */
const LEVELS = new Map([
  ['debug', 'debug'],
  ['info', 'info'],
  ['notice', 'info'],
  ['warning', 'warn'],
] as const)
/** How long to wait for a list; and how soon it is read again if that failed, or if changes are not reported. */
const LIST_TIMEOUT_MS = 5_000
const MAX_LOG_CHARACTERS = 64 * 1024

/**
 * The resources and prompts of one server. A list is read on demand and kept until it changes; while the server is down it
 * stays as it was, like its tools.
 */
export class ServerOffers {
  readonly #server: McpServer
  readonly #catalog: Catalog
  /** `until`: when it must be read again. */
  readonly #lists = new Map<OfferKind, { list: Promise<OfferList>; until: number }>()
  readonly #followed = new Map<string, Set<() => void>>()

  constructor(server: McpServer, catalog: Catalog) {
    this.#server = server
    this.#catalog = catalog
  }

  /** What is shown of the server's own description. */
  get info(): ServerInfo | undefined {
    const { info } = this.#server.session ?? {}
    if (!info) return undefined
    const shown = (text: string) =>
      shortText(withoutKnownSecretsIn(text.slice(0, 2 * MAX_INSTRUCTIONS)), MAX_INSTRUCTIONS)
    const texts = ['name', 'title', 'version', 'instructions'].map(key => [key, info[key]] as const)
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
    const isReported = session.tellsChangesOf(kind === 'prompts' ? kind : 'resources')
    const list = this.#read(kind, session).catch(error => {
      kept.until = Math.min(kept.until, performance.now() + LIST_TIMEOUT_MS)
      this.#server.problem(`Could not list the server's ${kind}: ${describeError(error)}`)
      return known?.list ?? NOTHING
    })
    const until = isReported ? Number.POSITIVE_INFINITY : performance.now() + LIST_TIMEOUT_MS
    const kept = { list, until }
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

  async setLogLevel(level: string): Promise<void> {
    if (this.has('logging')) await this.request('logging/setLevel', { level }).catch(() => {})
  }

  /** Calls `listener` when a resource changes, also after a reconnect. Resolves to a function that stops it. */
  async follow(uri: string, listener: () => void): Promise<() => void> {
    const { session } = this.#server
    if (!session) throw this.#server.unavailable()
    await session.follow(uri)
    const own = () => listener()
    const listeners = this.#followed.get(uri) ?? new Set()
    this.#followed.set(uri, listeners.add(own))
    return () => {
      if (!listeners.delete(own) || listeners.size > 0) return
      this.#followed.delete(uri)
      this.#server.session?.unfollow(uri)
    }
  }

  /** A new session: what was known from the old one may no longer hold. */
  adopt(session: Session): void {
    for (const uri of this.#followed.keys())
      session
        .follow(uri)
        .catch(error => this.#server.problem(`Could not subscribe to a resource: ${describeError(error)}`))
    for (const kind of ['resources', 'prompts'] as const) if (this.has(kind)) this.#onChange(kind)
  }

  forget(): void {
    const had = this.#lists.size > 0
    this.#lists.clear()
    for (const kind of ['resources', 'prompts'] as const) if (had) this.#catalog.changed(kind)
  }

  #onChange(kind: 'resources' | 'prompts'): void {
    for (const [each, kept] of this.#lists) if ((each === 'prompts') === (kind === 'prompts')) kept.until = 0
    this.#catalog.changed(kind)
  }

  onNotification(method: string, params: Params, from: Requester | undefined): void {
    if (method === 'notifications/message') this.#onLog(params, from)
    if (method === 'notifications/resources/list_changed') this.#onChange('resources')
    if (method === 'notifications/prompts/list_changed') this.#onChange('prompts')
    if (method === 'notifications/resources/updated')
      for (const listener of this.#followed.get(String(params.uri)) ?? []) listener()
  }

  /** Logs what the server logs through the protocol, and passes it on to whoever made the call. */
  #onLog({ level: given, data, logger }: Params, from: Requester | undefined): void {
    const level = typeof given === 'string' ? given : 'info'
    const ours = LEVELS.get(level as 'info') ?? 'error'
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
