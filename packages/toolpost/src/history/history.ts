import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { ToolExecutor } from '../executor/executor.ts'
import type { CallEvent } from '../executor/observers.ts'
import type { Logger } from '../logging/logger.ts'
import { quietly } from '../util/quietly.ts'
import { type Database, HistoryError, historyError, openFile, setAside, write } from './database.ts'
import { type CallFilter, type CallPage, type CallQuery, sqlOf } from './query.ts'
import { jsonLines, type StoredCall, storedCall } from './stored-call.ts'

/** How long calls are collected before they are written. */
const WRITE_MS = 50
/** How many calls are written, or read by an export, before other work has its turn. */
const PAGE = 50
/** A file that cannot be written is tried again after this; calls in memory that nobody asked for are shortened. */
const RETRY_MS = 1_000
/** How many calls may wait to be written, and how many once the file cannot be: those beyond are dropped and counted. */
const MAX_WAITING = 20_000
const MAX_KEPT = 2_000
/** How often closing tries a locked file. */
const CLOSING_ATTEMPTS = 20

export interface HistoryOptions {
  /** `:memory:` keeps them until the history is closed; before they are first asked for, only the last 2,000. */
  file: string
  /** Older calls are removed; 30 if left out. */
  days?: number | undefined
  /** If the file would become larger, the oldest calls are removed; 500 if left out. */
  maxMb?: number | undefined
  /** Receives what a person should know: why calls are not kept, that a file was moved aside. */
  onNotice?: ((text: string) => void) | undefined
  logger?: Logger | undefined
}

export interface HistoryStatus {
  /** `failed`: calls are currently not kept, for the reason in `problem`; retried every second. */
  state: 'opening' | 'open' | 'failed' | 'closed'
  file: string
  problem: string | undefined
  written: number
  /** Calls missing from the file because it could not be written. */
  dropped: number
}

/** Opens a history file. Resolves when it is open or has failed to open; never rejects. */
export async function openHistory(options: HistoryOptions): Promise<History> {
  const history = new History(options)
  history.open()
  return history
}

/** Past calls, kept in a file that several processes may use. A file that cannot be used never fails a call. */
export class History {
  readonly #options: HistoryOptions
  readonly #status: HistoryStatus
  readonly #stops: (() => void)[] = []
  #database: Database | undefined
  /** Ended calls that are not written yet; each is made ready when it is written. */
  #waiting: (() => StoredCall)[] = []
  #timer: NodeJS.Timeout | undefined

  /** The file is opened by `open`, or when it is first needed. */
  constructor(options: HistoryOptions) {
    this.#options = options
    this.#status = { state: 'opening', file: options.file, problem: undefined, written: 0, dropped: 0 }
  }

  /** Opens the file now. A problem is reported, and the file tried again with the next call. */
  open(): void {
    void this.#writeAll({ always: true })
  }

  status(): HistoryStatus {
    return { ...this.#status }
  }

  /** Keeps every call of `executor` from now on, including refused ones; returns a function that stops it. */
  observe(executor: Pick<ToolExecutor, 'observe'>): () => void {
    const stop = executor.observe(event => this.record(event))
    this.#stops.push(stop)
    return stop
  }

  /** Ended calls, newest first, including those that ended just now. Rejects with a HistoryError. */
  async list(query: CallQuery = {}): Promise<CallPage> {
    const { sql, values, limit } = sqlOf(query)
    const found = await this.#select(sql, values)
    const calls = found.slice(0, limit)
    const last = calls.at(-1)
    return { calls, ...(last && found.length > limit && { next: last.serial }) }
  }

  /** The call with this serial. Rejects with a HistoryError. */
  async get(serial: string): Promise<StoredCall | undefined> {
    return (await this.#select('SELECT call FROM calls WHERE serial = ?', [serial]))[0]
  }

  /** All matching calls, newest first, as chunks of JSON lines; read as fast as they are consumed. */
  async *export(filter: CallFilter = {}): AsyncGenerator<string, void> {
    let page: CallPage | undefined
    do {
      page = await this.list({ ...filter, limit: PAGE, cursor: page?.next })
      yield jsonLines(page.calls)
      await nextTurn()
    } while (page.next !== undefined)
  }

  /** Writes what is left and closes the file. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    if (this.#isUnread) this.#waiting = []
    for (let attempt = 1; attempt <= CLOSING_ATTEMPTS; attempt++) {
      await this.#writeAll()
      if (this.#waiting.length === 0 || this.#status.state === 'failed') break
      await delay(WRITE_MS)
    }
    this.#drop(this.#waiting.splice(0).length)
    clearTimeout(this.#timer)
    this.#status.state = 'closed'
    this.#database?.close()
    this.#database = undefined
  }

  async #select(sql: string, values: readonly unknown[]): Promise<StoredCall[]> {
    await this.#writeAll({ isRead: true })
    const rows = this.#use(database => database.prepare(sql).all(values)) as { call: string }[]
    return rows.map(({ call }) => JSON.parse(call))
  }

  /** Keeps a call that has ended. On the path of every call: the rest is done when calls are written. */
  record(event: CallEvent): void {
    if (!event.result) return
    if (this.#isUnread && this.#waiting.length >= 2 * MAX_KEPT) this.#waiting.splice(0, MAX_KEPT)
    if (this.#waiting.length >= MAX_WAITING) return this.#drop(1)
    this.#waiting.push(() => storedCall(event))
    this.#timer ??= setTimeout(() => void this.#writeAll(), this.#isUnread ? RETRY_MS : WRITE_MS).unref()
  }

  /** In memory, the database is opened when calls are first asked for. */
  get #isUnread(): boolean {
    return this.#options.file === ':memory:' && !this.#database
  }

  /** Results may be large: until they are written, only what will be stored is kept. Returns how many calls are dropped. */
  #shorten(): number {
    const kept = this.#waiting.slice(-MAX_KEPT).map(make => make())
    const dropped = this.#waiting.length - kept.length
    this.#waiting = kept.map(call => () => call)
    return dropped
  }

  /** Writes what waits, the first calls first; other work goes in between. */
  async #writeAll({ always = false, isRead = false } = {}): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#isUnread && !always && !isRead) return void this.#shorten()
    for (let isDue = always; isDue || this.#waiting.length > 0; isDue = false) {
      const next = this.#waiting.slice(0, PAGE).map(make => make())
      try {
        this.#use(database => write(database, next, this.#options))
      } catch (error) {
        return this.#postpone(error as HistoryError)
      }
      Object.assign(this.#status, { state: 'open', problem: undefined })
      this.#status.written += next.length
      this.#waiting = this.#waiting.slice(next.length)
      await nextTurn()
    }
  }

  /** Tries again later. A problem is reported, except for a lock, which goes away. */
  #postpone({ message, reason }: HistoryError): void {
    if (this.#status.state === 'closed') return
    if (reason !== 'locked' && this.#status.problem !== message)
      this.#notify(`Calls are not kept: ${message}`)
    if (reason !== 'locked') Object.assign(this.#status, { state: 'failed', problem: message })
    this.#drop(this.#shorten())
    this.#timer = setTimeout(() => void this.#writeAll(), RETRY_MS).unref()
  }

  /** Runs `action` on the open file; a damaged or outdated file is replaced by a new one. Throws a HistoryError. */
  #use<T>(action: (database: Database) => T, problems: readonly HistoryError[] = []): T {
    const { file } = this.#options
    // At first another process may have replaced it already.
    const [, again] = problems
    try {
      if (this.#status.state === 'closed') throw new HistoryError('The history is closed')
      if (again) this.#notify(`${again.message}; moved it to ${setAside(file, again.reason)}`)
      this.#database ??= openFile(file)
      return action(this.#database)
    } catch (thrown) {
      const error = historyError(file, thrown)
      if (again || (error.reason !== 'damaged' && error.reason !== 'outdated')) throw error
      this.#database?.close()
      this.#database = undefined
      return this.#use(action, [...problems, error])
    }
  }

  #drop(count: number): void {
    const isNews = count > 0 && this.#status.dropped === 0 && this.#status.state !== 'failed'
    this.#status.dropped += count
    if (isNews) this.#notify('Calls are missing from the history: they could not be written in time')
  }

  /** For the log, and for a person. */
  #notify(text: string): void {
    quietly(() => this.#options.logger?.warn({}, text))
    quietly(() => this.#options.onNotice?.(text))
  }
}
