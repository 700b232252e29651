import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type Libsql from 'libsql'
import { installedFile, isMissingPackage, MissingPackageError, packageRoot } from '../util/package-root.ts'
import { makePrivateFolder } from '../util/private-file.ts'
import type { HistoryOptions } from './history.ts'
import type { StoredCall } from './stored-call.ts'

export type Database = Libsql.Database

/** Why the history is unavailable, for a person to read. */
export class HistoryError extends Error {
  override name = 'HistoryError'
  /** `damaged` and `outdated` files are moved aside; a `locked` one is tried again. */
  reason?: 'damaged' | 'outdated' | 'locked'
}

/** Of `data/history.sql`; stored in the file as `user_version`. */
const SCHEMA_VERSION = 3

/** How many calls are removed at once, whenever some are written: more than are written together. */
const REMOVED_TOGETHER = 200
/** Above this share of `maxMb` the oldest calls are removed; the rest is for the next write and SQLite's journal. */
const FULL_SHARE = 0.7
/** Short, because calls wait meanwhile: a file that another process has locked for longer is tried again later. */
const BUSY_TIMEOUT_MS = 100

/** Opens the file, creating it if necessary, readable by its owner only. Throws. */
export function openFile(file: string): Database {
  const Connection = loadLibsql()
  if (file !== ':memory:' && !fs.existsSync(file)) {
    makePrivateFolder(dirname(file))
    fs.closeSync(fs.openSync(file, 'a', 0o600))
  }
  const database = new Connection(file)
  const version = () =>
    (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA synchronous = NORMAL`)
    if (version() === 0) {
      database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
      const schema = fs.readFileSync(join(packageRoot(), 'data', 'history.sql'), 'utf8')
      const create = () => database.exec(`${schema}; PRAGMA user_version = ${SCHEMA_VERSION}`)
      // Checked again: another process may have been first.
      database.transaction(() => version() === 0 && create()).immediate()
    }
    if (version() > SCHEMA_VERSION)
      throw new HistoryError(`${file} was written by a newer version of Toolpost`)
    const problem = `${file} was written by an older version of Toolpost`
    if (version() < SCHEMA_VERSION) throw Object.assign(new HistoryError(problem), { reason: 'outdated' })
    // So that SQLite's journal stays below 1 MB.
    database.exec('PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 1048576')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Writes calls, and removes some of those that are too old, or the oldest ones if there is too much. */
export function write(database: Database, calls: readonly StoredCall[], options: HistoryOptions): void {
  const { days = 30, maxMb = 500 } = options
  const insert = database.prepare('INSERT OR IGNORE INTO calls (call) SELECT value FROM json_each(?)')
  const size = database.prepare(`SELECT page_size * (page_count - freelist_count) AS bytes
    FROM pragma_page_size, pragma_page_count, pragma_freelist_count`)
  const writeAll = () => {
    insert.run([JSON.stringify(calls)])
    const { bytes } = size.get() as { bytes: number }
    const isFull = bytes > FULL_SHARE * maxMb * 1024 * 1024
    const oldest = Date.now() - days * 24 * 60 * 60 * 1_000
    const which = isFull ? 'ORDER BY seq' : `WHERE time < ${oldest} ORDER BY time`
    database.exec(`DELETE FROM calls WHERE seq IN (SELECT seq FROM calls ${which} LIMIT ${REMOVED_TOGETHER})`)
  }
  database.transaction(writeAll).immediate()
  database.exec('PRAGMA incremental_vacuum(1000)')
}

/** Whether a history can be kept: its database is an optional package. */
export function hasDatabase(): boolean {
  return installedFile('libsql') !== undefined
}

/** Not an import: it is optional, 19 MB, and loaded only to write or read a history. */
function loadLibsql(): typeof Libsql {
  const require = createRequire(import.meta.url)
  try {
    return require(join(packageRoot(), 'dist', 'libsql.cjs'))
  } catch {
    // Another version, another C library, or none installed: the package itself knows.
    return require('libsql')
  }
}

/** Moves a file and its journal out of the way; returns its new name. */
export function setAside(file: string, reason = 'damaged'): string {
  const aside = `${file}.${reason}-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  for (const suffix of ['', '-wal', '-shm'])
    if (fs.existsSync(file + suffix)) fs.renameSync(file + suffix, aside + suffix)
  return aside
}

/** Whatever was thrown, as a HistoryError. */
export function historyError(file: string, cause: unknown): HistoryError {
  if (cause instanceof HistoryError) return cause
  const { code = '', message } = cause as NodeJS.ErrnoException
  if (isMissingPackage(cause))
    return new HistoryError(new MissingPackageError('The history', ['libsql']).message)
  if (/SQLITE_(CORRUPT|NOTADB)|disk image is malformed|not a database/.test(`${code} ${message}`))
    return Object.assign(new HistoryError(`${file} is damaged`, { cause }), { reason: 'damaged' as const })
  const isLocked = /SQLITE_(BUSY|LOCKED)/.test(code)
  return Object.assign(new HistoryError(`${file}: ${message}`, { cause }), isLocked && { reason: 'locked' })
}
