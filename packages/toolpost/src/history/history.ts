import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { CallEvent } from '../executor/observers.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { quietly } from '../runtime/quietly.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import {
  type Database,
  explaining,
  fileId,
  HistoryError,
  insertCalls,
  type OpenFile,
  openFile,
  removeOldCalls,
  setAside,
  type WaitingCall,
} from './database.ts'
import { type ExportFormat, exportText } from './export-text.ts'
import { type CallFilter, type CallPage, type CallQuery, pageOf, sqlOf } from './query.ts'
import { type StoredCall, snapshot, storedCall } from './stored-call.ts'

const DEFAULT_DAYS = 30
const DEFAULT_MAX_MB = 500
/** How long calls are collected before they are written together, and how much is written at once. */
const WRITE_MS = 50
const WRITTEN_BYTES = 500_000
/** A file that cannot be written is tried again after this. */
const RETRY_MS = 1_000
/** How much may wait to be written; calls beyond that are dropped and counted. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024
/** How many small calls may wait to be prepared, and how many are prepared at once. */
const MAX_FRESH = 100_000
const PREPARED_TOGETHER = 500
/** How often old calls are looked for. */
const REMOVE_MS = 10_000
/** How often, and how far apart, closing tries a locked file. */
const CLOSING_ATTEMPTS = 20
const CLOSING_RETRY_MS = 100
const EXPORTED_TOGETHER = 500

export interface HistoryOptions {
  file: string
  /** Older calls are removed. */
  days?: number | undefined
  /** If the file would become larger, the oldest calls are removed. */
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
  #open: OpenFile | undefined
  /** Small calls that just ended. */
  readonly #fresh: { event: CallEvent; tools: ToolManager }[] = []
  #waiting: WaitingCall[] = []
  #waitingBytes = 0
  #writeTimer: NodeJS.Timeout | undefined
  #removeTimer: NodeJS.Timeout | undefined
  #isLocked = false
  #isReported = false
  #closed: Promise<void> | undefined

  /** The file is opened by `open`, or when it is first needed. */
  constructor({ file, days = DEFAULT_DAYS, maxMb = DEFAULT_MAX_MB, logger, onNotice }: HistoryOptions) {
    this.#file = file
    this.#status = { state: 'opening', file, problem: undefined, written: 0, dropped: 0 }
    this.#limits = { days, maxMb }
    this.#logger = quietLogger(logger)
    this.#onNotice = onNotice ?? (() => {})
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
    const stop = executor.observe(event => this.#add(event, executor.tools))
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
    let cursor: string | undefined
    let isFirst = true
    do {
      const { calls, next } = await this.list({ ...filter, limit: EXPORTED_TOGETHER, cursor })
      yield exportText(calls, format, isFirst)
      cursor = next
      isFirst = false
    } while (cursor !== undefined)
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
      if (this.#waiting.length === 0 || !this.#isLocked) break
      await delay(CLOSING_RETRY_MS)
    }
    const lost = this.#waiting.length + this.#fresh.length
    if (lost > 0) this.#drop(lost)
    clearTimeout(this.#writeTimer)
    clearTimeout(this.#removeTimer)
    this.#status.state = 'closed'
    this.#closeFile()
  }

  #add(event: CallEvent, tools: ToolManager): void {
    if (!event.result) return
    if (this.#waitingBytes >= MAX_WAITING_BYTES || this.#fresh.length >= MAX_FRESH) return this.#drop(1)
    const kept = snapshot(event, event.result)
    if (kept) this.#fresh.push({ event: kept, tools })
    else this.#prepare(event, tools)
    this.#writeTimer ??= setTimeout(() => this.#write(), WRITE_MS).unref()
  }

  /** Removes secrets and shortens. Not while the call is answered, unless it is large. */
  #prepare(event: CallEvent, tools: ToolManager): void {
    const tool = tools.findTool(event.call.name)
    const call = storedCall(event, event.result as ToolResult, tool && tools.originOf(tool)?.server)
    const json = JSON.stringify(call)
    this.#waiting.push({ call, json })
    this.#waitingBytes += json.length
  }

  /** Writes the first waiting calls. Returns whether it makes sense to go on. */
  #write(): boolean {
    clearTimeout(this.#writeTimer)
    this.#writeTimer = undefined
    for (const { event, tools } of this.#fresh.splice(0, PREPARED_TOGETHER)) this.#prepare(event, tools)
    if (this.#waiting.length === 0) return false
    let bytes = 0
    let count = 0
    while (count < this.#waiting.length && bytes < WRITTEN_BYTES)
      bytes += this.#waiting[count++]?.json.length ?? 0
    try {
      this.#use(database => insertCalls(database, this.#waiting.slice(0, count)))
    } catch (error) {
      this.#fails(error as HistoryError)
      this.#writeTimer = setTimeout(() => this.#write(), RETRY_MS).unref()
      return false
    }
    this.#waiting = this.#waiting.slice(count)
    this.#waitingBytes -= bytes
    this.#works(count)
    this.#removeOldCalls()
    const isMore = this.#waiting.length > 0 || this.#fresh.length > 0
    if (isMore) this.#writeTimer = setTimeout(() => this.#write(), 0).unref()
    return isMore
  }

  /** Other work goes in between. */
  async #writeAll(): Promise<void> {
    while (this.#write()) await nextTurn()
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
    clearTimeout(this.#removeTimer)
    this.#removeTimer = setTimeout(() => this.#removeOldCalls(), isMore ? 0 : REMOVE_MS).unref()
  }

  /** Runs `action` on the open file; a damaged or outdated file is replaced by a new one. Throws a HistoryError. */
  #use<T>(action: (database: Database) => T): T {
    return explaining(this.#file, () => {
      const id = fileId(this.#file)
      try {
        return explaining(this.#file, () => action(this.#openDatabase(id)))
      } catch (error) {
        const { reason } = error as HistoryError
        if (reason !== 'damaged' && reason !== 'outdated') throw error
        this.#closeFile()
        // Another process may have been first.
        if (id !== undefined && fileId(this.#file) === id)
          this.#notice(`${(error as HistoryError).message}; moved it to ${setAside(this.#file, reason)}`)
        return action(this.#openDatabase(fileId(this.#file)))
      }
    })
  }

  /** Reopens the file if it was moved or deleted. */
  #openDatabase(id: number | undefined): Database {
    if (this.#status.state === 'closed') throw new HistoryError('The history is closed')
    if (this.#open?.id !== id) this.#closeFile()
    this.#open ??= openFile(this.#file)
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
    this.#isLocked = false
    this.#status.written += written
    if (this.#waiting.length === 0) this.#isReported = false
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
