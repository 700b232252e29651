import { FAILURE_CODES } from '../call/failure-codes.ts'
import type { StoredCall } from './stored-call.ts'

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

type Parse = (text: string) => string | number | false | undefined

const OUTCOMES = ['ok', 'failed', ...FAILURE_CODES]
const TIMES = '90s, 15m, 1h, 2d, a date such as 2026-01-31, or milliseconds since 1970'
const isCount = (count: number, max: number) => count >= 1 && count <= max
const isSerial = (text: string) => /^[\da-f-]{36}$/.test(text) && text
const hasWords = (text: string) => isCount(wordsOf(text).length, MAX_WORDS)

/** Each part of a query: its condition in the database, how it is read, and what is expected if that is not possible. */
const FIELDS: Record<keyof CallQuery, [condition: string, parse?: Parse, expected?: string]> = {
  tool: ['tool = ?'],
  server: ['server = ?'],
  caller: ['caller = ?'],
  origin: ['origin = ?'],
  trace: ['trace_id = ?'],
  outcome: ['outcome = ?', text => OUTCOMES.includes(text) && text, `one of ${OUTCOMES.join(', ')}`],
  since: ['time >= ?', parseTime, TIMES],
  until: ['time < ?', parseTime, TIMES],
  q: ['calls_text MATCH ?', text => hasWords(text) && text, `1 to ${MAX_WORDS} words`],
  limit: ['', text => isCount(+text, MAX_LIMIT) && +text, `a number from 1 to ${MAX_LIMIT}`],
  // The oldest calls are removed first: if the last one of a page is gone, so are all that follow.
  cursor: ['seq < (SELECT seq FROM calls WHERE serial = ?)', isSerial, "'next' of the previous page"],
}

/** Reads a query as written on a command line or in a URL. Throws a FilterError. */
export function parseQuery(given: Readonly<Record<string, string | undefined>>): CallQuery {
  const names = Object.keys(FIELDS)
  const parsed = Object.entries(given).flatMap(([name, text]) => {
    if (!text) return []
    if (!names.includes(name))
      throw new FilterError(`unknown parameter '${name}'; expected one of ${names.join(', ')}`)
    const [, parse = (given: string) => given, expected] = FIELDS[name as keyof CallQuery]
    const value = parse(text)
    if (value) return [[name, value]]
    throw new FilterError(`invalid ${name} '${text.slice(0, 50)}'; expected ${expected}`)
  })
  return Object.fromEntries(parsed)
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

function parseTime(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9}(?:\.\d+)?)\s*([smhdw])$/.exec(text) ?? []
  if (amount !== undefined) return Date.now() - Number(amount) * (UNITS[unit] ?? 0)
  if (/^\d{10,16}$/.test(text)) return Number(text)
  return /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : undefined
}

/** The words of a text, split as in the full-text index. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.split(/[^\p{L}\p{N}\p{Co}]+/u).filter(word => word !== '')
}

/** Finds the JSON of a page of calls and of one more, in the order in which they ended, newest first. */
export function sqlOf({ limit = 100, ...query }: CallQuery) {
  const given = Object.entries(query).flatMap(([name, value]): [string, string | number][] => {
    if (value === undefined) return []
    if (name === 'outcome' && value === 'failed') return [['outcome <> ?', 'ok']]
    // Every word is quoted, so that none is an operator of the index, and matches as a prefix.
    const words = wordsOf(String(value)).map(word => `"${word}"*`)
    return [[FIELDS[name as keyof CallQuery][0], name === 'q' ? words.join(' AND ') : value]]
  })
  const where = given.map(([condition]) => condition).join(' AND ') || 'true'
  // Every index provides this order, so that a search ends when its page is full.
  const texts = 'calls_text JOIN calls ON seq = calls_text.rowid'
  const [from, order] = query.q === undefined ? ['calls', 'seq'] : [texts, 'calls_text.rowid']
  const sql = `SELECT call FROM ${from} WHERE ${where} ORDER BY ${order} DESC LIMIT ${limit + 1}`
  return { sql, values: given.map(([, value]) => value), limit }
}
