import type { EventSourceMessage } from 'eventsource-parser'
import type { Approval, CallRecord, ModelInfo, OpenQuestion, ServerStatus, ToolInfo } from 'toolpost/gateway'
import { approvalsIn, callsIn, has, questionsIn, serversIn } from '../api/checked.ts'
import { currentModel, type ListName, openEvents, readList } from '../api/gateway-api.ts'
import { isRecord } from '../api/guards.ts'
import { ApiError } from '../api/http.ts'
import { dataOf, readEvents } from '../api/read-events.ts'
import { currentToken, keepToken } from '../api/token.ts'
import { withCalls, withProgress } from './call-list.ts'
import { coalesced } from './coalesced.ts'
import { type Connection, retryDelayMs, SILENCE_MS } from './connection.ts'
import { runs } from './runs.ts'
import { Store } from './store.ts'

interface GatewayState {
  connection: Connection
  /** `undefined` until first read. */
  tools: ToolInfo[] | undefined
  servers: ServerStatus[] | undefined
  calls: CallRecord[] | undefined
  /** Calls waiting for a person's decision, oldest first. */
  approvals: Approval[] | undefined
  /** Questions from tools to their caller, oldest first. */
  questions: OpenQuestion[] | undefined
  /** Which model answers the chat, and whether it supports speech. */
  model: ModelInfo | undefined
  /** Why a list could not be read although the gateway answers, by list name. */
  problems: Readonly<Record<string, string>>
}

/** New records are shown in batches, at most this often: a busy gateway must not freeze the page. */
const FLUSH_MS = 60

const LISTS = ['tools', 'servers', 'calls', 'approvals', 'questions'] as const
/** Lists that also arrive complete in events. */
const TOLD: readonly ListName[] = ['servers', 'approvals', 'questions']

/**
 * The gateway as this page knows it: reads everything once, follows the events, and starts over when the connection
 * is lost.
 */
class Gateway extends Store<GatewayState> {
  #lastEventId: string | undefined
  #failures = 0
  #wake: (() => void) | undefined
  #pending: CallRecord[] = []
  #flushTimer: ReturnType<typeof setTimeout> | undefined
  /** How often each list was requested: an answer overtaken by a later one is ignored. */
  readonly #asked: Partial<Record<ListName, number>> = {}
  /** From a link, in case the stored token is refused. */
  #offeredToken: string | undefined
  readonly #refreshTools = coalesced(() => this.#refresh('tools'))
  /** Separate: a gateway still looking for a model must not hold up the rest. */
  readonly #refreshModel = coalesced(async () =>
    this.update({ model: await currentModel().catch(() => undefined) }),
  )

  constructor() {
    super({
      connection: { state: 'connecting' },
      tools: undefined,
      servers: undefined,
      calls: undefined,
      approvals: undefined,
      questions: undefined,
      model: undefined,
      problems: {},
    })
  }

  /** Runs for the lifetime of the page. */
  async follow(): Promise<never> {
    for (;;) {
      await this.#connectOnce()
      await this.#pause()
    }
  }

  retryNow(): void {
    this.#wake?.()
  }

  /** For when the gateway requires a token, or has refused the current one. */
  adoptToken(token: string): void {
    keepToken(token)
    this.retryNow()
  }

  /** A link can come from anybody: its token never replaces one that works. */
  offerToken(token: string): void {
    if (currentToken() === undefined || this.get().connection.state === 'token') this.adoptToken(token)
    else this.#offeredToken = token
  }

  retryLists(): void {
    for (const name of Object.keys(this.get().problems)) this.#refresh(name as ListName).catch(() => {})
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

  async #readAll(): Promise<void> {
    await Promise.all(LISTS.map(name => this.#refresh(name)))
    this.#failures = 0
    this.update({ connection: { state: 'open' } })
    this.#flush()
    void this.#refreshModel()
    runs.reconnected()
  }

  /** If the gateway answers with an error, the list stays unchanged. Rejects if the gateway is unreachable. */
  async #refresh(name: ListName): Promise<void> {
    const before = this.get()[name]
    const turn = (this.#asked[name] ?? 0) + 1
    this.#asked[name] = turn
    const others = () => Object.entries(this.get().problems).filter(([one]) => one !== name)
    try {
      const list = await readList(name)
      if (turn !== this.#asked[name]) return
      const { [name]: known } = this.get()
      // A list from an event meanwhile is newer.
      const isNewer = TOLD.includes(name) && known !== before
      this.update({ [name]: isNewer ? known : list, problems: Object.fromEntries(others()) })
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error
      if (turn !== this.#asked[name]) return
      const problems = Object.fromEntries([...others(), [name, error.message]])
      this.update({ [name]: this.get()[name] ?? [], problems })
    }
  }

  #take(event: EventSourceMessage): void {
    this.#lastEventId = event.id ?? this.#lastEventId
    const data = dataOf(event)
    if (event.event === 'call') for (const call of callsIn([data])) this.#addCall(call)
    if (event.event === 'servers' && isRecord(data)) this.update({ servers: serversIn(data.servers) })
    if (event.event === 'approvals' && isRecord(data)) this.update({ approvals: approvalsIn(data.approvals) })
    if (event.event === 'questions' && isRecord(data)) this.update({ questions: questionsIn(data.questions) })
    if (event.event === 'progress') this.#takeProgress(data)
    if (event.event === 'run' && isRecord(data)) runs.take(data)
    if (event.event === 'tools') void this.#refreshTools()
    if (event.event === 'voice') void this.#refreshModel()
  }

  #takeProgress(data: unknown): void {
    const { calls } = this.get()
    if (!calls || !has(data, { serial: 'string', progress: 'number' })) return
    const { serial, progress, total, message } = data
    const told = {
      progress: Number(progress),
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    }
    this.#flush()
    this.update({ calls: withProgress(this.get().calls ?? calls, String(serial), told) })
  }

  #addCall(record: CallRecord): void {
    this.#pending.push(record)
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS)
  }

  /** Call events received while the list is loading are newer than the list, so they wait for it. */
  #flush(): void {
    clearTimeout(this.#flushTimer)
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
    const offered = this.#offeredToken
    this.#offeredToken = undefined
    if (offered !== undefined) keepToken(offered)
    const refused = currentToken() !== undefined
    this.update({ connection: offered === undefined ? { state: 'token', refused } : { state: 'connecting' } })
  }

  /** The next answer may come from another process, whose serials start at 1 again, so pending records are dropped. */
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
