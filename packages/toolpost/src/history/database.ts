import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { installedFile, isMissingPackage, MissingPackageError } from '../runtime/missing-package.ts'
import { BUSY_TIMEOUT_MS } from './limits.ts'
import { COLUMNS } from './stored-call.ts'

/** The part of libsql that is used; better-sqlite3 has the same interface. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
  readonly inTransaction: boolean
}

export interface Statement {
  run(values: readonly unknown[]): unknown
  get(values?: readonly unknown[]): unknown
  all(values?: readonly unknown[]): unknown[]
}

/** Why the history is unavailable, for a person to read. `isDamaged`: the file itself is corrupt. */
export class HistoryError extends Error {
  override name = 'HistoryError'
  readonly isDamaged: boolean

  constructor(
    message: string,
    { isDamaged = false, ...options }: ErrorOptions & { isDamaged?: boolean } = {},
  ) {
    super(message, options)
    this.isDamaged = isDamaged
  }
}

/** Stored in the file as `user_version`. */
const SCHEMA_VERSION = 1

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS calls (id INTEGER PRIMARY KEY, ${COLUMNS.join(', ')});
  CREATE INDEX IF NOT EXISTS calls_by_time ON calls (time);
  CREATE INDEX IF NOT EXISTS calls_by_serial ON calls (serial);
  CREATE INDEX IF NOT EXISTS calls_by_tool ON calls (tool, time);
  CREATE INDEX IF NOT EXISTS calls_failed ON calls (time) WHERE success = 0;
  CREATE VIRTUAL TABLE IF NOT EXISTS calls_text USING fts5(tool, args, outcome, content='', contentless_delete=1);
  PRAGMA user_version = ${SCHEMA_VERSION}`

/** Opens the file, creating it if necessary, readable by its owner only. Throws a HistoryError. */
export function openForWriting(file: string): Database {
  return withFile(file, () => {
    makeFile(file)
    return opened(file, database => {
      unlessBusy(() => database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL'))
      database.exec(
        'PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 1048576',
      )
      if (versionOf(database) === 0) database.exec(`BEGIN IMMEDIATE; ${SCHEMA}; COMMIT`)
      if (missingColumns(database).length > 0) addColumns(database)
    })
  })
}

/** For a file created by an older Toolpost, which can still use it afterwards, since it names its columns. */
function missingColumns(database: Database): string[] {
  const there = database.prepare('PRAGMA table_info(calls)').all() as { name: string }[]
  return COLUMNS.filter(column => !there.some(({ name }) => name === column))
}

function addColumns(database: Database): void {
  database.exec('BEGIN IMMEDIATE')
  // Checked again: another process may have been first.
  for (const column of missingColumns(database)) database.exec(`ALTER TABLE calls ADD COLUMN ${column}`)
  database.exec('COMMIT')
}

/** Opens an existing file. Throws a HistoryError. */
export function openForReading(file: string): Database {
  return withFile(file, () => {
    if (!existsSync(file)) throw new HistoryError(`${file} does not exist yet`)
    return opened(file, database => database.exec('PRAGMA query_only = ON'))
  })
}

function opened(file: string, prepare: (database: Database) => void): Database {
  const database = new (loadLibsql())(file)
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    if (versionOf(database) > SCHEMA_VERSION)
      throw new HistoryError(`${file} was written by a newer version of Toolpost`)
    prepare(database)
    // Reads the first page of the calls, so that damage there shows now.
    database.prepare('SELECT id FROM calls ORDER BY time LIMIT 1').get()
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** SQLite does not wait here while another process creates the same file, so this otherwise idle thread does. */
function unlessBusy(action: () => void): void {
  for (let attempt = 1; ; attempt++) {
    try {
      return action()
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || attempt === 20) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    }
  }
}

function versionOf(database: Database): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

/** Whether a history can be kept: its database is an optional package. */
export function hasDatabase(): boolean {
  return installedFile('libsql') !== undefined
}

type Libsql = new (file: string) => Database

/** Not an import: it is optional, 19 MB, and loaded only to keep or read a history. */
function loadLibsql(): Libsql {
  try {
    return createRequire(import.meta.url)('libsql')
  } catch (cause) {
    const missing = isMissingPackage(cause) ? new MissingPackageError('The history', ['libsql']) : undefined
    throw new HistoryError(missing?.message ?? `libsql cannot be loaded: ${cause}`, { cause })
  }
}

const FOLDER = '.toolpost'

/** Calls are private: only their owner may read them, and they must not end up in a repository. */
function makeFile(file: string): void {
  const folder = dirname(file)
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined && basename(folder) === FOLDER)
    writeFileSync(join(folder, '.gitignore'), '*\n')
  if (existsSync(file)) return
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
}

function withFile<T>(file: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw explain(error, file)
  }
}

/** What went wrong with the file, for a person to read. */
export function explain(error: unknown, file: string): HistoryError {
  if (error instanceof HistoryError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const isDamaged = /^SQLITE_(CORRUPT|NOTADB)/.test(code) || /malformed|not a database/.test(message)
  if (isDamaged) return new HistoryError(`${file} is damaged`, { cause: error, isDamaged })
  const reason =
    [
      [/SQLITE_FULL|ENOSPC/, 'the disk is full'],
      [/SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EROFS|EPERM/, 'it cannot be written to'],
      [/SQLITE_BUSY/, 'another process has locked it'],
      [/SQLITE_IOERR/, 'it cannot be read or written: disk I/O error'],
    ].find(([pattern]) => (pattern as RegExp).test(`${code} ${message}`))?.[1] ?? message
  return new HistoryError(`${file}: ${reason}`, { cause: error })
}

/** Moves a damaged file and its companions out of the way; returns its new name. */
export function setAside(file: string): string {
  const aside = `${file}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  renameSync(file, aside)
  for (const suffix of ['-wal', '-shm']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix)
    rmSync(file + suffix, { force: true })
  }
  return aside
}
