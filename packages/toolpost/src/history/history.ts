import type { CallEvent } from '../executor/observers.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { type Clock, systemClock, type Timer } from '../runtime/clock.ts'
import { addCall, type Batch, newBatch } from './call-batch.ts'
import { type ExportFormat, exportText } from './export-text.ts'
import type { CallFilter, CallPage, CallQuery } from './filter.ts'
import { Health } from './health.ts'
import type { HistoryOptions, HistoryStatus } from './history-options.ts'
import {
  BATCH_CALLS,
  BATCH_CHARACTERS,
  DEFAULT_DAYS,
  DEFAULT_MAX_MB,
  EXPORT_PAGE,
  FLUSH_MS,
  MAX_WAITING_CALLS,
  MAX_WAITING_CHARACTERS,
  READ_WAIT_MS,
  REOPEN_MS,
} from './limits.ts'
import { Reading } from './reading.ts'
import { serverOf } from './server-of.ts'
import type { StoredCall } from './stored-call.ts'
import { Writing } from './writing.ts'

/** Opens a history file. Resolves when it is open or has failed to open; never rejects. */
export async function openHistory(options: HistoryOptions): Promise<History> {
  const history = new History(options)
  await history.opened
  return history
}

/**
 * Past calls, kept in a file. A separate thread writes it: a file that is slow, full or gone costs the history, never
 * a call.
 */
export class History {
  /** Resolves when the file is open or has failed to open. */
  readonly opened: Promise<void>
  readonly #options: { file: string; days: number; maxMb: number }
  readonly #clock: Clock
  readonly #reading: Reading
  readonly #health: Health
  readonly #stops: (() => void)[] = []
  #isOpened: () => void = () => {}
  #writing: Writing | undefined
  #writingSince: number | undefined
  #batch = newBatch()
  /** Batches from before the file was opened, while `firstSerial` is still unknown. */
  #unsent: Batch[] = []
  #isSettled = false
  #timer: Timer | undefined
  /** Not yet written. */
  #waiting = { calls: 0, characters: 0 }
  #firstSerial = 0
  #closed: Promise<void> | undefined

  constructor({ file, days = DEFAULT_DAYS, maxMb = DEFAULT_MAX_MB, ...options }: HistoryOptions) {
    const { logger, clock, after, onNotice } = options
    this.#options = { file, days, maxMb }
    this.#health = new Health(quietLogger(logger), onNotice)
    this.#clock = clock ?? systemClock
    this.#reading = new Reading(this.#options, () => this.#writing?.check())
    this.opened = new Promise(resolve => {
      this.#isOpened = resolve
    })
    if (after) void after.catch(() => {}).then(() => this.#startOnce())
    else this.#start()
  }

  get dropped(): number {
    return this.#health.dropped
  }

  /** Offset of this process's calls: call n of the executor has the serial `firstSerial + n`. */
  get firstSerial(): number {
    return this.#firstSerial
  }

  status(): HistoryStatus {
    const { state, problem, written, dropped } = this.#health
    return { state, file: this.#options.file, problem, written, dropped }
  }

  /** Keeps every call of `executor` from now on, including refused ones; returns a function that stops it. */
  observe(executor: ToolExecutor): () => void {
    const stop = executor.observe(event => {
      if (event.result) this.#take(event, executor)
    })
    this.#stops.push(stop)
    return stop
  }

  /** Ended calls, newest first, including those that ended just now. Rejects with a HistoryError. */
  async list(query: CallQuery = {}): Promise<CallPage> {
    await this.#settled()
    return (await this.#reading.ask({ type: 'list', query })) as CallPage
  }

  /** The call with this serial. Rejects with a HistoryError. */
  async get(serial: number): Promise<StoredCall | undefined> {
    await this.#settled()
    return (await this.#reading.ask({ type: 'get', serial })) as StoredCall | undefined
  }

  /** All matching calls, newest first, as chunks of text; read as fast as they are consumed. */
  async *export(filter: CallFilter = {}, format: ExportFormat = 'jsonl'): AsyncGenerator<string, void> {
    let cursor: string | undefined
    let isFirst = true
    do {
      const { calls, next } = await this.list({ ...filter, limit: EXPORT_PAGE, cursor })
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
    this.#startOnce()
    await this.opened
    this.#flush()
    this.#health.state = 'closed'
    await Promise.all([this.#writing?.close(), this.#reading.close()])
  }

  #startOnce(): void {
    if (this.#writingSince === undefined) this.#start()
  }

  #start(): void {
    this.#writingSince = this.#clock.now()
    const writing = new Writing(this.#options, {
      onOpen: lastSerial => {
        if (this.#health.state === 'opening') this.#firstSerial = lastSerial
        this.#health.works()
        this.#settle()
      },
      onDone: done => this.#done(done),
      onProblem: problem => {
        this.#health.fails(problem)
        this.#settle()
      },
      onReplaced: text => {
        this.#health.notice(text)
        this.#reading.reopen()
      },
      onEnd: () => this.#ended(writing),
    })
    this.#writing = writing
  }

  /** The file is open, or has failed to open. */
  #settle(): void {
    this.#isSettled = true
    this.#isOpened()
    for (const batch of this.#unsent.splice(0)) this.#send(batch)
  }

  #take(event: CallEvent, { tools }: ToolExecutor): void {
    const { calls, characters } = this.#waiting
    const batch = this.#batch
    if (calls >= MAX_WAITING_CALLS || characters + batch.characters >= MAX_WAITING_CHARACTERS)
      return this.#health.drop(1)
    const { name } = event.call
    if (!batch.servers.has(name)) batch.servers.set(name, serverOf(tools, name))
    if (event.result) addCall(batch, event, event.result)
    this.#waiting.calls++
    if (batch.calls >= BATCH_CALLS || batch.characters >= BATCH_CHARACTERS) this.#flush()
    else this.#timer ??= this.#flushLater()
  }

  #flushLater(): Timer {
    const timer = this.#clock.setTimer(() => this.#flush(), FLUSH_MS)
    timer.hold(false)
    return timer
  }

  #flush(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const batch = this.#batch
    if (batch.calls === 0) return
    this.#batch = newBatch()
    this.#waiting.characters += batch.characters
    if (this.#isSettled) this.#send(batch)
    else this.#unsent.push(batch)
  }

  #send(batch: Batch): void {
    batch.firstSerial = this.#firstSerial
    const isLongAgo = this.#clock.now() - (this.#writingSince ?? 0) > REOPEN_MS
    if (!this.#writing && isLongAgo) this.#start()
    if (this.#writing) this.#writing.write(batch)
    else
      this.#done({
        calls: batch.calls,
        characters: batch.characters,
        problem: this.#health.problem ?? 'closed',
      })
  }

  #done({ calls, characters, problem }: { calls: number; characters: number; problem?: string }): void {
    this.#waiting.calls -= calls
    this.#waiting.characters -= characters
    if (problem !== undefined) {
      this.#health.fails(problem)
      this.#health.drop(calls)
    } else this.#health.kept(calls)
    if (problem === undefined && this.#waiting.calls < MAX_WAITING_CALLS / 2) this.#health.keepsUp()
  }

  #ended(writing: Writing): void {
    if (this.#writing === writing) this.#writing = undefined
    const { calls } = this.#waiting
    const unsent = this.#unsent.reduce((sum, batch) => sum + batch.calls, this.#batch.calls)
    const lost = calls - unsent
    this.#waiting = { calls: calls - lost, characters: 0 }
    if (lost > 0) this.#health.drop(lost)
    this.#settle()
  }

  /** Resolves when all ended calls are in the file, or writing takes too long. */
  async #settled(): Promise<void> {
    await this.opened
    this.#flush()
    await this.#writing?.flushed(this.#clock, READ_WAIT_MS)
  }
}
