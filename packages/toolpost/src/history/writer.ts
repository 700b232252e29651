import type { Batch } from './call-batch.ts'
import { cleanRows } from './clean-rows.ts'
import { type Database, explain, HistoryError, openForWriting, type Statement, setAside } from './database.ts'
import {
  DEFAULT_DAYS,
  DEFAULT_MAX_MB,
  FULL_SHARE,
  JOURNAL_SHARE,
  MAX_JOURNAL_BYTES,
  PRUNED_CALLS,
  PRUNED_SHARE,
  REOPEN_MS,
} from './limits.ts'
import { hasSpool, takeSpool } from './spool.ts'
import { type CallRow, COLUMNS } from './stored-call.ts'

export interface WriterOptions {
  file: string
  days: number
  maxMb: number
  /** Called when the file was damaged and a new one was started. */
  onReplaced(text: string): void
}

/** SQLite's default. */
const PAGE_BYTES = 4_096
const DAY_MS = 24 * 60 * 60 * 1_000
/** Rows per INSERT statement. */
const TOGETHER = 50
const ROW = `(${COLUMNS.map(() => '?').join()})`

interface Open {
  database: Database
  insert: Statement
  insertMany: Statement
  index: Statement
}

/** Writes calls to the file and removes old ones. Runs outside the path of a call. */
export class HistoryWriter {
  readonly #options: WriterOptions
  #open: Open | undefined
  #triedAt = Number.NEGATIVE_INFINITY
  #problem = ''
  #isFull = false

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Opens the file and imports the spool. Throws a HistoryError. */
  open(): void {
    if (this.#open) return
    this.#triedAt = Date.now()
    try {
      this.#open = this.#prepare(openForWriting(this.#options.file))
    } catch (error) {
      const problem = explain(error, this.#options.file)
      this.#problem = problem.message
      if (!problem.isDamaged) throw problem
      this.#replaceFile()
    }
    this.takeSpool()
  }

  /** The serial of the last call in the file. */
  get lastSerial(): number {
    const last = this.#open?.database.prepare('SELECT max(serial) AS serial FROM calls').get()
    return (last as { serial: number | null } | undefined)?.serial ?? 0
  }

  /** Writes a batch in one transaction. Throws a HistoryError; then nothing of the batch is in the file. */
  write(batch: Batch): void {
    if (batch.calls > 0) this.#insert(cleanRows(batch))
  }

  /** Imports what one-shot commands have left. */
  takeSpool(): void {
    takeSpool(this.#options.file, rows => {
      const last = this.lastSerial
      this.#insert(rows.map((row, index) => ({ ...row, serial: last + index + 1 })))
    })
  }

  #insert(rows: readonly CallRow[]): void {
    if (!this.#open) this.#reopen()
    try {
      this.#inTransaction(open => insertRows(open, rows))
    } catch (error) {
      const problem = explain(error, this.#options.file)
      if (!problem.isDamaged) throw problem
      this.#replaceFile()
      this.#inTransaction(open => insertRows(open, rows))
    }
    if (this.#fill() > FULL_SHARE) this.#isFull = true
  }

  /**
   * Removes some of the calls that are too old, or the oldest ones if the file is too large. Returns whether there is
   * more to do, so that other work can go in between. Throws a HistoryError.
   */
  prune(): boolean {
    if (!this.#open) return false
    try {
      const oldest = Date.now() - this.#options.days * DAY_MS
      const isMore = this.#remove('WHERE time < ?', [oldest]) || (this.#isFull && this.#remove('', []))
      this.#open.database.exec('PRAGMA incremental_vacuum(2000)')
      this.#isFull &&= this.#fill() > PRUNED_SHARE
      return isMore
    } catch (error) {
      throw explain(error, this.#options.file)
    }
  }

  /** Checks whether the file is damaged, and sets it aside if so. */
  check(): void {
    const [verdict] = (this.#open?.database.prepare('PRAGMA quick_check(1)').all() ?? []) as Record<
      string,
      string
    >[]
    if (verdict && !Object.values(verdict).includes('ok')) this.#replaceFile()
  }

  /** Whether the oldest calls have to be removed before more are written. */
  get isFull(): boolean {
    return this.#isFull
  }

  close(): void {
    this.#open?.database.close()
    this.#open = undefined
  }

  #reopen(): void {
    if (Date.now() - this.#triedAt < REOPEN_MS) throw new HistoryError(this.#problem)
    this.open()
  }

  /** How much of the file's maximum size is in use, from 0 to 1. */
  #fill(): number {
    const pages = this.#pragma('page_count') - this.#pragma('freelist_count')
    return pages / this.#pragma('max_page_count')
  }

  #pragma(name: string): number {
    const row = this.#open?.database.prepare(`PRAGMA ${name}`).get() as Record<string, number> | undefined
    return row?.[name] ?? 0
  }

  /** Returns whether there may be more. */
  #remove(condition: string, values: readonly unknown[]): boolean {
    const oldest = `SELECT id FROM calls ${condition} ORDER BY time LIMIT ${PRUNED_CALLS}`
    return this.#inTransaction(({ database }) => {
      const ids = (database.prepare(oldest).all(values) as { id: number }[]).map(({ id }) => id)
      const those = 'IN (SELECT value FROM json_each(?))'
      if (ids.length === 0) return false
      database.prepare(`DELETE FROM calls_text WHERE rowid ${those}`).run([JSON.stringify(ids)])
      database.prepare(`DELETE FROM calls WHERE id ${those}`).run([JSON.stringify(ids)])
      return ids.length === PRUNED_CALLS
    })
  }

  #inTransaction<T>(action: (open: Open) => T): T {
    const open = this.#open
    if (!open) throw new HistoryError(this.#problem)
    open.database.exec('BEGIN IMMEDIATE')
    try {
      const value = action(open)
      open.database.exec('COMMIT')
      return value
    } catch (error) {
      if (open.database.inTransaction) open.database.exec('ROLLBACK')
      throw error
    }
  }

  #replaceFile(): void {
    const { file, onReplaced } = this.#options
    this.close()
    const aside = setAside(file)
    this.#open = this.#prepare(openForWriting(file))
    onReplaced(`${file} was damaged; moved it to ${aside} and started a new one`)
  }

  #prepare(database: Database): Open {
    const maxBytes = this.#options.maxMb * 1024 * 1024
    const forCalls = maxBytes - Math.min(JOURNAL_SHARE * maxBytes, MAX_JOURNAL_BYTES)
    database.exec(`PRAGMA max_page_count = ${Math.floor(forCalls / PAGE_BYTES)}`)
    const insert = `INSERT INTO calls (${COLUMNS.join()}) VALUES `
    return {
      database,
      insert: database.prepare(insert + ROW),
      insertMany: database.prepare(insert + Array(TOGETHER).fill(ROW).join()),
      index: database.prepare(
        `INSERT INTO calls_text (rowid, tool, args, outcome)
         SELECT id, tool, args, coalesce(error, result) FROM calls WHERE id > ?`,
      ),
    }
  }
}

function insertRows({ database, insert, insertMany, index }: Open, rows: readonly CallRow[]): void {
  const { last } = database.prepare('SELECT coalesce(max(id), 0) AS last FROM calls').get() as {
    last: number
  }
  const values = rows.map(row => COLUMNS.map(column => row[column]))
  let at = 0
  for (; at + TOGETHER <= values.length; at += TOGETHER)
    insertMany.run(values.slice(at, at + TOGETHER).flat())
  for (const row of values.slice(at)) insert.run(row)
  index.run([last])
}

/** Imports the spool of one-shot commands. If the history cannot be written, the spool is kept. */
export function takeNoted(file: string): void {
  if (!hasSpool(file)) return
  const writer = new HistoryWriter({ file, days: DEFAULT_DAYS, maxMb: DEFAULT_MAX_MB, onReplaced: () => {} })
  try {
    writer.open()
  } finally {
    writer.close()
  }
}
