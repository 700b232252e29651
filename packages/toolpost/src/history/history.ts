import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { ToolExecutor } from '../executor/executor.ts'
import type { CallEvent } from '../executor/observers.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { quietly } from '../runtime/quietly.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import {
  type CallRow,
  type Database,
  explaining,
  fileId,
  HistoryError,
  insertCalls,
  openFile,
  removeOldCalls,
  setAside,
} from './database.ts'
import { type ExportFormat, exportText } from './export-text.ts'
import { type CallFilter, type CallPage, type CallQuery, pageOf, sqlOf } from './query.ts'
import { type StoredCall, snapshot, storedCall } from './stored-call.ts'

/** How long calls are collected before they are written, and how much is written before other work has its turn. */
const WRITE_MS = 50
const WRITTEN_TOGETHER = 50
/** A file that cannot be written is tried again after this. */
const RETRY_MS = 1_000
/** How many calls may wait for their turn, and for a file that cannot be written; those beyond are dropped and counted. */
const MAX_ENDED = 100_000
const MAX_ROWS = 2_000
/** How often old calls are looked for. */
const REMOVE_MS = 10_000
/** How often, and how far apart, closing tries a locked file. */
const CLOSING_ATTEMPTS = 20
const CLOSING_RETRY_MS = 100
const EXPORTED_TOGETHER = 500

export interface HistoryOptions {
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
  readonly #file: string
  readonly #status: HistoryStatus
  readonly #limits: { days: number; maxMb: number }
  readonly #logger: Logger
  readonly #onNotice: (text: string) => void
  readonly #stops: (() => void)[] = []
  #open: { database: Database; id: number | undefined } | undefined
  /** Ended calls, as they were reported. */
  #ended: { event: CallEvent; tools: ToolManager }[] = []
  /** Those that are ready to be written. */
  #rows: CallRow[] = []
  #timers: { write?: NodeJS.Timeout | undefined; remove?: NodeJS.Timeout } = {}
  #isLocked = false
  #isReported = false
  #closed: Promise<void> | undefined

  /** The file is opened by `open`, or when it is first needed. */
  constructor({ file, days = 30, maxMb = 500, logger, onNotice = () => {} }: HistoryOptions) {
    this.#file = file
    this.#status = { state: 'opening', file, problem: undefined, written: 0, dropped: 0 }
    this.#limits = { days, maxMb }
    this.#logger = quietLogger(logger)
    this.#onNotice = onNotice
  }

  /** Opens the file now. A problem is reported, and the file tried again with the next call. */
  open(): void {
    this.#removeOldCalls()
  }

  status(): HistoryStatus {
    return { ...this.#status }
  }

  /** Keeps every call of `executor` from now on, including refused ones; returns a function that stops it. */
  observe(executor: ToolExecutor): () => void {
    const stop = executor.observe(event => this.#record(event, executor.tools))
    this.#stops.push(stop)
    return stop
  }

  /** Ended calls, newest first, including those that ended just now. Rejects with a HistoryError. */
  async list(query: CallQuery = {}): Promise<CallPage> {
    await this.#writeAll()
    const { sql, values } = sqlOf(query)
    return pageOf(this.#select(sql, values), query)
  }

  /** The call with this serial. Rejects with a HistoryError. */
  async get(serial: string): Promise<StoredCall | undefined> {
    await this.#writeAll()
    return this.#select('SELECT call FROM calls WHERE serial = ?', [serial])[0]
  }

  /** All matching calls, newest first, as chunks of text; read as fast as they are consumed. */
  async *export(filter: CallFilter = {}, format: ExportFormat = 'jsonl'): AsyncGenerator<string, void> {
    let page: CallPage | undefined
    do {
      const isFirst = page === undefined
      page = await this.list({ ...filter, limit: EXPORTED_TOGETHER, cursor: page?.next })
      yield exportText(page.calls, format, isFirst)
    } while (page.next !== undefined)
  }

  /** Writes what is left and closes the file. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    for (const stop of this.#stops) stop()
    for (let attempt = 1; attempt <= CLOSING_ATTEMPTS; attempt++) {
      await this.#writeAll()
      if (this.#rows.length === 0 || !this.#isLocked) break
      await delay(CLOSING_RETRY_MS)
    }
    const left = this.#rows.length + this.#ended.length
    if (left > 0) this.#drop(left)
    clearTimeout(this.#timers.write)
    clearTimeout(this.#timers.remove)
    this.#status.state = 'closed'
    this.#closeFile()
  }

  /** On the path of every call: the rest is done when calls are written. */
  #record(event: CallEvent, tools: ToolManager): void {
    if (!event.result) return
    if (this.#ended.length >= MAX_ENDED) return this.#drop(1)
    const kept = snapshot(event, event.result)
    this.#ended.push({ event: kept ?? event, tools })
    if (!kept) this.#prepare(this.#ended.length)
    this.#timers.write ??= setTimeout(() => void this.#writeAll(), WRITE_MS).unref()
  }

  /** Other work goes in between. */
  async #writeAll(): Promise<void> {
    while (this.#write()) await nextTurn()
  }

  /** Writes the calls that ended first. Returns whether there are more that can be written. */
  #write(): boolean {
    clearTimeout(this.#timers.write)
    this.#timers.write = undefined
    if (this.#rows.length === 0) this.#prepare(WRITTEN_TOGETHER)
    const rows = this.#rows.slice(0, WRITTEN_TOGETHER)
    if (rows.length === 0) return false
    try {
      this.#use(database => insertCalls(database, rows))
    } catch (error) {
      this.#fails(error as HistoryError)
      // Results may be large: until they can be written, only what will be stored is kept.
      this.#prepare(this.#ended.length)
      this.#timers.write = setTimeout(() => void this.#writeAll(), RETRY_MS).unref()
      return false
    }
    this.#rows = this.#rows.slice(rows.length)
    this.#works(rows.length)
    this.#removeOldCalls()
    const isMore = this.#rows.length + this.#ended.length > 0
    if (!isMore) this.#isReported = false
    return isMore
  }

  /** Turns ended calls into rows, without secrets. */
  #prepare(count: number): void {
    for (const { event, tools } of this.#ended.splice(0, count)) {
      const tool = tools.findTool(event.call.name)
      const call = storedCall(event, tool && tools.originOf(tool)?.server)
      if (this.#rows.length < MAX_ROWS) this.#rows.push({ call, json: JSON.stringify(call) })
      else this.#drop(1)
    }
  }

  #select(sql: string, values: readonly unknown[]): StoredCall[] {
    const rows = this.#use(database => database.prepare(sql).all(values)) as { call: string }[]
    return rows.map(({ call }) => JSON.parse(call))
  }

  #removeOldCalls(): void {
    let isMore = false
    try {
      isMore = this.#use(database => removeOldCalls(database, this.#limits))
    } catch (error) {
      if (!this.#open) this.#fails(error as HistoryError)
    }
    clearTimeout(this.#timers.remove)
    this.#timers.remove = setTimeout(() => this.#removeOldCalls(), isMore ? 0 : REMOVE_MS).unref()
  }

  /** Runs `action` on the open file; a damaged or outdated file is replaced by a new one. Throws a HistoryError. */
  #use<T>(action: (database: Database) => T): T {
    const id = explaining(this.#file, () => fileId(this.#file))
    try {
      return explaining(this.#file, () => action(this.#database(id)))
    } catch (error) {
      const { reason, message } = error as HistoryError
      if (reason !== 'damaged' && reason !== 'outdated') throw error
      this.#closeFile()
      return explaining(this.#file, () => {
        // Another process may have been first.
        if (id !== undefined && fileId(this.#file) === id)
          this.#notice(`${message}; moved it to ${setAside(this.#file, reason)}`)
        return action(this.#database(fileId(this.#file)))
      })
    }
  }

  /** Reopens the file if it was moved or deleted. */
  #database(id: number | undefined): Database {
    if (this.#status.state === 'closed') throw new HistoryError('The history is closed')
    if (this.#open?.id !== id) this.#closeFile()
    if (!this.#open) {
      const { database } = openFile(this.#file)
      this.#open = { database, id: fileId(this.#file) }
    }
    if (this.#status.state === 'opening') this.#status.state = 'open'
    return this.#open.database
  }

  #closeFile(): void {
    this.#open?.database.close()
    this.#open = undefined
  }

  #works(written: number): void {
    if (this.#status.state === 'failed') this.#logger.info({}, 'Calls are kept again')
    this.#status.state = 'open'
    this.#status.problem = undefined
    this.#status.written += written
    this.#isLocked = false
  }

  #fails({ message, reason }: HistoryError): void {
    this.#isLocked = reason === 'locked'
    if (this.#isLocked) return
    this.#status.state = 'failed'
    this.#status.problem = message
    this.#reportOnce(`Calls are not kept: ${message}`)
  }

  #drop(calls: number): void {
    this.#status.dropped += calls
    this.#reportOnce('Calls are missing from the history: they could not be written in time')
  }

  #reportOnce(text: string): void {
    if (!this.#isReported) this.#notice(text)
    this.#isReported = true
  }

  /** For the log, and for a person. */
  #notice(text: string): void {
    this.#logger.warn({}, text)
    quietly(() => this.#onNotice(text))
  }
}
