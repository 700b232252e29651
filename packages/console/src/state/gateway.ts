import type { ServerEvent } from '../api/event-parser.ts'
import { currentModel, listCalls, listServers, listTools, openEvents } from '../api/gateway-api.ts'
import { ApiError } from '../api/http.ts'
import { dataOf, readEvents } from '../api/read-events.ts'
import { currentToken, keepToken } from '../api/token.ts'
import type { CallRecord, ModelInfo, ServerStatus, ToolInfo } from '../api/types.ts'
import { withCalls } from './call-list.ts'
import { type Connection, retryDelayMs, SILENCE_MS } from './connection.ts'
import { Store } from './store.ts'

interface GatewayState {
  connection: Connection
  /** `undefined` until first read. */
  tools: ToolInfo[] | undefined
  servers: ServerStatus[] | undefined
  calls: CallRecord[] | undefined
  /** Who answers the chat, and whether it can be spoken to. */
  model: ModelInfo | undefined
}

/** New records are shown together, this often at most: a busy gateway must not freeze the page. */
const FLUSH_MS = 60

/**
 * The gateway as this page knows it: reads everything once, follows the events, and begins again by itself when
 * the connection breaks.
 */
class Gateway extends Store<GatewayState> {
  #lastEventId: string | undefined
  #failures = 0
  #wake: (() => void) | undefined
  #pending: CallRecord[] = []
  #flushTimer: ReturnType<typeof setTimeout> | undefined

  constructor() {
    super({
      connection: { state: 'connecting' },
      tools: undefined,
      servers: undefined,
      calls: undefined,
      model: undefined,
    })
  }

  /** For as long as the page lives. */
  async follow(): Promise<never> {
    for (;;) {
      await this.#connectOnce()
      await this.#pause()
    }
  }

  retryNow(): void {
    this.#wake?.()
  }

  adoptToken(token: string): void {
    keepToken(token)
    this.retryNow()
  }

  async refreshTools(): Promise<void> {
    this.update({ tools: await listTools() })
  }

  /** On its own: a gateway that still looks for a model must not hold up the rest. */
  async #refreshModel(): Promise<void> {
    this.update({ model: await currentModel().catch(() => undefined) })
  }

  putServer(server: ServerStatus): void {
    const servers = this.get().servers?.map(one => (one.name === server.name ? server : one))
    this.update({ servers })
  }

  async #connectOnce(): Promise<void> {
    const controller = new AbortController()
    try {
      const response = await openEvents(this.#lastEventId, controller.signal)
      const stream = readEvents(response, { silenceMs: SILENCE_MS, onEvent: event => this.#take(event) })
      await Promise.all([this.#readAll(), stream])
      this.#lost()
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.#askForToken()
      else this.#lost()
    } finally {
      controller.abort()
    }
  }

  /** Events of calls that came in while the list was on its way are newer than the list. */
  async #readAll(): Promise<void> {
    const [tools, servers, calls] = await Promise.all([listTools(), listServers(), listCalls()])
    this.#failures = 0
    this.update({
      connection: { state: 'open' },
      tools,
      servers,
      calls: withCalls(calls, this.#takePending()),
    })
    void this.#refreshModel()
  }

  #take(event: ServerEvent): void {
    this.#lastEventId = event.id ?? this.#lastEventId
    if (event.event === 'call') this.#addCall(dataOf<CallRecord>(event))
    if (event.event === 'servers') this.#putServers(dataOf<{ servers: ServerStatus[] }>(event)?.servers)
    if (event.event === 'tools') this.refreshTools().catch(() => {})
    if (event.event === 'voice') void this.#refreshModel()
  }

  #putServers(servers: ServerStatus[] | undefined): void {
    if (servers !== undefined) this.update({ servers })
  }

  #addCall(record: CallRecord | undefined): void {
    if (record === undefined) return
    this.#pending.push(record)
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS)
  }

  #flush(): void {
    this.#flushTimer = undefined
    const { calls, connection } = this.get()
    if (connection.state !== 'open' || calls === undefined) return
    this.update({ calls: withCalls(calls, this.#takePending()) })
  }

  #takePending(): CallRecord[] {
    const pending = this.#pending
    this.#pending = []
    return pending
  }

  #askForToken(): void {
    this.update({ connection: { state: 'token', refused: currentToken() !== undefined } })
  }

  /** Another process may answer next: its calls are numbered anew, so nothing of this one is mixed in. */
  #lost(): void {
    this.#failures += 1
    this.#takePending()
    const delayMs = retryDelayMs(this.#failures)
    this.update({
      connection: delayMs === 0 ? { state: 'connecting' } : { state: 'gone', retryAt: Date.now() + delayMs },
    })
  }

  async #pause(): Promise<void> {
    const { connection } = this.get()
    await new Promise<void>(resolve => {
      this.#wake = resolve
      if (connection.state !== 'token') setTimeout(resolve, retryDelayMs(this.#failures))
    })
  }
}

export const gateway = new Gateway()
