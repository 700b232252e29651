import { type Database, explain, openForReading } from './database.ts'
import { type CallFilter, type CallPage, type CallQuery, cursorOf, positionOf, wordsOf } from './filter.ts'
import { DEFAULT_LIMIT } from './limits.ts'
import { type CallRow, type StoredCall, storedCall } from './stored-call.ts'

/** Reads calls from the file. Blocking: for a separate thread, or a command. Throws HistoryErrors. */
export class HistoryReader {
  readonly #file: string
  #database: Database | undefined

  constructor(file: string) {
    this.#file = file
  }

  /** Newest first. */
  list(query: CallQuery = {}): CallPage {
    const { limit = DEFAULT_LIMIT } = query
    const { sql, values } = conditionOf(query)
    const rows = this.#all(`SELECT * FROM calls ${sql} ORDER BY time DESC, id DESC LIMIT ?`, [
      ...values,
      limit + 1,
    ])
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return { calls: page.map(storedCall), ...(last && rows.length > limit && { next: cursorOf(last) }) }
  }

  /** The latest call with this serial. */
  get(serial: number): StoredCall | undefined {
    const [row] = this.#all('SELECT * FROM calls WHERE serial = ? ORDER BY id DESC LIMIT 1', [serial])
    return row && storedCall(row)
  }

  close(): void {
    this.#database?.close()
    this.#database = undefined
  }

  #all(sql: string, values: readonly unknown[]): (CallRow & { id: number })[] {
    try {
      this.#database ??= openForReading(this.#file)
      return this.#database.prepare(sql).all(values) as (CallRow & { id: number })[]
    } catch (error) {
      // Reopened next time: the file may have been replaced.
      this.close()
      throw explain(error, this.#file)
    }
  }
}

interface Condition {
  sql: string
  values: (string | number)[]
}

function conditionOf(query: CallQuery): Condition {
  const parts = [...partsOf(query), ...(query.cursor === undefined ? [] : [after(query.cursor)])]
  return {
    sql: parts.length === 0 ? '' : `WHERE ${parts.map(({ sql }) => sql).join(' AND ')}`,
    values: parts.flatMap(({ values }) => values),
  }
}

function partsOf({ tool, server, caller, origin, trace, outcome, since, until, q }: CallFilter): Condition[] {
  const parts: Condition[] = []
  const add = (sql: string, ...values: (string | number)[]) => void parts.push({ sql, values })
  if (tool !== undefined) add('tool = ?', tool)
  if (server === 'local') add('server IS NULL')
  else if (server !== undefined) add('server = ?', server)
  if (caller !== undefined) add('caller = ?', caller)
  if (origin !== undefined) add('origin = ?', origin)
  if (trace !== undefined) add('trace_id = ?', trace)
  if (outcome === 'ok') add('success = 1')
  else if (outcome === 'failed') add('success = 0')
  else if (outcome !== undefined) add('success = 0 AND code = ?', outcome)
  if (since !== undefined) add('time >= ?', since)
  if (until !== undefined) add('time < ?', until)
  if (q !== undefined) add('id IN (SELECT rowid FROM calls_text WHERE calls_text MATCH ?)', matchOf(q))
  return parts
}

/** Every word is quoted, so that none is an operator of the index, and matches as a prefix. */
function matchOf(q: string): string {
  return wordsOf(q)
    .map(word => `"${word}"*`)
    .join(' AND ')
}

function after(cursor: string): Condition {
  const { time, id } = positionOf(cursor)
  return { sql: '(time, id) < (?, ?)', values: [time, id] }
}
