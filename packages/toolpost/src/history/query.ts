import { FAILURE_CODES } from '../call/failure-codes.ts'
import type { StoredCall } from './stored-call.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000
const MAX_WORDS = 20

/** Which calls to return; all given conditions must match. */
export interface CallFilter {
  tool?: string | undefined
  /** `local`, or the name of a server. */
  server?: string | undefined
  caller?: string | undefined
  /** Where they came from: `cli`, `http`, `console`, `mcp` … */
  origin?: string | undefined
  /** Id of their trace. */
  trace?: string | undefined
  /** `ok`, `failed`, or a failure code. */
  outcome?: string | undefined
  /** Calls that began at this time or later, in milliseconds since 1970 … */
  since?: number | undefined
  /** … and before this one. */
  until?: number | undefined
  /** Words that must all occur in tool, arguments, result or error; each matches the beginning of a word. */
  q?: string | undefined
}

/** A filter, and which page of the matches. */
export interface CallQuery extends CallFilter {
  limit?: number | undefined
  /** `next` of the previous page. */
  cursor?: string | undefined
}

/** Newest first. */
export interface CallPage<Call = StoredCall> {
  calls: Call[]
  /** The cursor of the next page; absent on the last one. */
  next?: string
}

/** An invalid query. */
export class FilterError extends Error {
  override name = 'FilterError'
}

type Value = string | number

/** Each part of a filter as a condition of the database. */
const CONDITIONS: Record<keyof CallFilter, string> = {
  tool: 'tool = ?',
  server: 'server = ?',
  caller: 'caller = ?',
  origin: 'origin = ?',
  trace: 'trace_id = ?',
  outcome: 'outcome = ?',
  since: 'time >= ?',
  until: 'time < ?',
  q: 'calls_text MATCH ?',
}

const FILTER_NAMES = Object.keys(CONDITIONS) as (keyof CallFilter)[]
const QUERY_NAMES: readonly string[] = [...FILTER_NAMES, 'limit', 'cursor']
const OUTCOMES = ['ok', 'failed', ...FAILURE_CODES]
const TIMES = '90s, 15m, 1h, 2d, a date such as 2026-01-31, or milliseconds since 1970'

const isCount = (count: number, max: number) => count >= 1 && count <= max

/** How each value is read, `undefined` if it cannot be, and what is expected. Others are taken as they are. */
const PARSERS: Readonly<Record<string, [(text: string, now: number) => Value | undefined, string]>> = {
  outcome: [text => OUTCOMES.find(each => each === text), `one of ${OUTCOMES.join(', ')}`],
  cursor: [text => /^[\da-f-]{36}$/.exec(text)?.[0], "'next' of the previous page"],
  q: [text => (isCount(wordsOf(text).length, MAX_WORDS) ? text : undefined), `1 to ${MAX_WORDS} words`],
  limit: [
    text => (isCount(Number(text), MAX_LIMIT) ? Number(text) : undefined),
    `a number from 1 to ${MAX_LIMIT}`,
  ],
  since: [parseTime, TIMES],
  until: [parseTime, TIMES],
}

/** Reads a query as written on a command line or in a URL. Throws a FilterError. */
export function parseQuery(given: Readonly<Record<string, string | undefined>>, now = Date.now()): CallQuery {
  const filled = Object.entries(given).filter(([, text]) => text)
  return Object.fromEntries(
    filled.map(([name, text = '']) => {
      if (!QUERY_NAMES.includes(name))
        throw new FilterError(`unknown parameter '${name}'; expected one of ${QUERY_NAMES.join(', ')}`)
      const [parse, expected] = PARSERS[name] ?? [() => text]
      const value = parse(text, now)
      if (value !== undefined) return [name, value]
      throw new FilterError(`invalid ${name} '${text.slice(0, 50)}'; expected ${expected}`)
    }),
  )
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

function parseTime(text: string, now: number): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9}(?:\.\d+)?)\s*([smhdw])$/.exec(text) ?? []
  if (amount !== undefined) return now - Number(amount) * (UNITS[unit] ?? 0)
  if (/^\d{10,16}$/.test(text)) return Number(text)
  return /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) || undefined : undefined
}

/** The words of a text, split as in the full-text index. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.split(/[^\p{L}\p{N}\p{Co}]+/u).filter(word => word !== '')
}

/** Finds the JSON of a page of calls and of one more, in the order in which they ended, newest first. */
export function sqlOf(query: CallQuery): { sql: string; values: Value[] } {
  const { limit = DEFAULT_LIMIT, q, cursor } = query
  const given = FILTER_NAMES.flatMap((name): [string, Value][] => {
    const value = query[name]
    if (value === undefined) return []
    if (name === 'outcome' && value === 'failed') return [['outcome <> ?', 'ok']]
    // Every word is quoted, so that none is an operator of the index, and matches as a prefix.
    const words = name === 'q' ? wordsOf(String(value)).map(word => `"${word}"*`) : []
    return [[CONDITIONS[name], name === 'q' ? words.join(' AND ') : value]]
  })
  // The oldest calls are removed first: if the last one of a page is gone, so are all that follow.
  if (cursor !== undefined) given.push(['seq < (SELECT seq FROM calls WHERE serial = ?)', cursor])
  const where = given.map(([sql]) => sql).join(' AND ') || 'true'
  // Every index provides this order, so that a search ends when its page is full.
  const source =
    q === undefined
      ? `calls WHERE ${where} ORDER BY seq`
      : `calls_text JOIN calls ON seq = calls_text.rowid WHERE ${where} ORDER BY calls_text.rowid`
  const sql = `SELECT call FROM ${source} DESC LIMIT ${limit + 1}`
  return { sql, values: given.map(([, value]) => value) }
}

/** The page that begins with `found`, which may have more calls. */
export function pageOf<Call extends StoredCall>(found: readonly Call[], query: CallQuery): CallPage<Call> {
  const { limit = DEFAULT_LIMIT } = query
  const calls = found.slice(0, limit)
  const last = calls.at(-1)
  return { calls, ...(last && found.length > limit && { next: last.serial }) }
}
