import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { installedFile, isMissingPackage, MissingPackageError, packageRoot } from '../util/package-root.ts'
import type { StoredCall } from './stored-call.ts'

/** The part of libsql that is used; better-sqlite3 has the same interface. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): {
    run(values: readonly unknown[]): unknown
    get(values?: readonly unknown[]): unknown
    all(values?: readonly unknown[]): unknown[]
  }
  close(): void
  readonly inTransaction: boolean
}

/** Why the history is unavailable, for a person to read. */
export class HistoryError extends Error {
  override name = 'HistoryError'
  /** `damaged` and `outdated` files are moved aside; a `locked` one is tried again. */
  readonly reason: 'damaged' | 'outdated' | 'locked' | undefined

  constructor(message: string, reason?: HistoryError['reason'], options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Stored in the file as `user_version`. */
const SCHEMA_VERSION = 2

/** `call` is a StoredCall as JSON; the other columns are for searching. `outcome` is `ok` or a failure code. */
const SCHEMA = `
  CREATE TABLE calls (seq INTEGER PRIMARY KEY, serial TEXT NOT NULL UNIQUE, time REAL NOT NULL, tool TEXT NOT NULL,
    server TEXT NOT NULL, origin TEXT NOT NULL, caller TEXT, outcome TEXT NOT NULL, trace_id TEXT, call TEXT NOT NULL);
  CREATE INDEX calls_by_time ON calls (time);
  CREATE INDEX calls_by_tool ON calls (tool);
  CREATE INDEX calls_by_caller ON calls (caller) WHERE caller IS NOT NULL;
  CREATE INDEX calls_failed ON calls (seq) WHERE outcome <> 'ok';
  CREATE VIRTUAL TABLE calls_text USING fts5(text, content='', contentless_delete=1);
  PRAGMA user_version = ${SCHEMA_VERSION}`

const DAY_MS = 24 * 60 * 60 * 1_000
/** How many calls are removed at once, whenever some are written: more than are written together. */
const REMOVED_TOGETHER = 200
/** Above this share of `maxMb` the oldest calls are removed; the rest is for the next write and SQLite's journal. */
const FULL_SHARE = 0.7
/** Short, because calls wait meanwhile: a file that another process has locked for longer is tried again later. */
const BUSY_TIMEOUT_MS = 100

/** Opens the file, creating it if necessary, readable by its owner only. Throws a HistoryError. */
export function openFile(file: string): { database: Database } {
  return explaining(file, () => {
    const Libsql = loadLibsql()
    makeFile(file)
    const database = new Libsql(file)
    try {
      database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA synchronous = NORMAL`)
      if (versionOf(database) === 0) {
        database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
        // Checked again: another process may have been first.
        inTransaction(database, () => versionOf(database) === 0 && database.exec(SCHEMA))
      }
      const version = versionOf(database)
      if (version > SCHEMA_VERSION)
        throw new HistoryError(`${file} was written by a newer version of Toolpost`)
      if (version < SCHEMA_VERSION)
        throw new HistoryError(`${file} was written by an older version of Toolpost`, 'outdated')
      // So that SQLite's journal stays below 1 MB.
      database.exec('PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 1048576')
      return { database }
    } catch (error) {
      database.close()
      throw error
    }
  })
}

function versionOf(database: Database): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

function inTransaction(database: Database, action: () => void): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    action()
    database.exec('COMMIT')
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  }
}

export function insert(database: Database, calls: readonly StoredCall[]): void {
  inTransaction(database, () => {
    const insert = database.prepare('INSERT OR IGNORE INTO calls VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    const { last } = database.prepare('SELECT max(seq) AS last FROM calls').get() as { last: number | null }
    for (const call of calls) {
      const { serial, startedAt, tool, source, origin, caller = null, result, traceId = null } = call
      const outcome = result.success ? 'ok' : result.code
      insert.run([serial, startedAt, tool, source, origin, caller, outcome, traceId, JSON.stringify(call)])
    }
    const index = `INSERT INTO calls_text (rowid, text) SELECT seq, tool || ' ' || coalesce(call -> '$.args', '') || ' ' ||
      coalesce(call -> '$.result.error', call -> '$.result.result', '') FROM calls WHERE seq > ?`
    database.prepare(index).run([last ?? 0])
  })
}

/** Removes some of the calls that are too old, or the oldest ones if there is too much. */
export function removeOld(database: Database, { days, maxMb }: { days: number; maxMb: number }): void {
  const size = `SELECT page_size * (page_count - freelist_count) AS bytes
    FROM pragma_page_size, pragma_page_count, pragma_freelist_count`
  const { bytes } = database.prepare(size).get() as { bytes: number }
  const isFull = bytes > FULL_SHARE * maxMb * 1024 * 1024
  const which = isFull ? 'ORDER BY seq' : `WHERE time < ${Date.now() - days * DAY_MS} ORDER BY time`
  const found = database.prepare(`SELECT seq FROM calls ${which} LIMIT ${REMOVED_TOGETHER}`).all()
  if (found.length === 0) return
  const seqs = JSON.stringify((found as { seq: number }[]).map(({ seq }) => seq))
  inTransaction(database, () => {
    database.prepare('DELETE FROM calls_text WHERE rowid IN (SELECT value FROM json_each(?))').run([seqs])
    database.prepare('DELETE FROM calls WHERE seq IN (SELECT value FROM json_each(?))').run([seqs])
  })
  database.exec('PRAGMA incremental_vacuum(1000)')
}

/** Whether a history can be kept: its database is an optional package. */
export function hasDatabase(): boolean {
  return installedFile('libsql') !== undefined
}

/** Not an import: it is optional, 19 MB, and loaded only to write or read a history. */
function loadLibsql(): new (file: string) => Database {
  const require = createRequire(import.meta.url)
  try {
    return require(join(packageRoot(), 'dist', 'libsql.cjs'))
  } catch {
    // Another version, another C library, or none installed: the package itself knows.
  }
  try {
    return require('libsql')
  } catch (cause) {
    const missing = isMissingPackage(cause) ? new MissingPackageError('The history', ['libsql']) : undefined
    throw new HistoryError(missing?.message ?? `libsql cannot be loaded: ${cause}`, undefined, { cause })
  }
}

/** Calls are private: only their owner may read them, and they must not end up in a repository. */
function makeFile(file: string): void {
  if (file === ':memory:') return
  const folder = dirname(file)
  const created = fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (created !== undefined && basename(folder) === '.toolpost')
    fs.writeFileSync(join(folder, '.gitignore'), '*\n')
  if (!fs.existsSync(file)) fs.closeSync(fs.openSync(file, 'a', 0o600))
}

/** Moves a file and its journal out of the way; returns its new name. Throws a HistoryError. */
export function setAside(file: string, reason: string): string {
  const aside = `${file}.${reason}-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  return explaining(file, () => {
    for (const suffix of ['', '-wal', '-shm'])
      if (fs.existsSync(file + suffix)) fs.renameSync(file + suffix, aside + suffix)
    return aside
  })
}

/** Runs `action`; what it throws becomes a HistoryError. */
export function explaining<T>(file: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof HistoryError) throw error
    const { code = '', message } = error as NodeJS.ErrnoException
    if (/SQLITE_(CORRUPT|NOTADB)|disk image is malformed|not a database/.test(`${code} ${message}`))
      throw new HistoryError(`${file} is damaged`, 'damaged', { cause: error })
    const reason = /SQLITE_(BUSY|LOCKED)/.test(code) ? 'locked' : undefined
    throw new HistoryError(`${file}: ${message}`, reason, { cause: error })
  }
}
