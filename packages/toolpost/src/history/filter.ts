import { FAILURE_CODES } from '../call/failure-codes.ts'
import { MAX_LIMIT } from './limits.ts'
import type { StoredCall } from './stored-call.ts'

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

export const OUTCOMES = ['ok', 'failed', ...FAILURE_CODES]
const TEXTS = ['tool', 'server', 'caller', 'origin', 'trace', 'q'] as const
export const QUERY_NAMES = [...TEXTS, 'outcome', 'since', 'until', 'limit', 'cursor'] as const

/** Reads a query as written on a command line or in a URL. Throws a FilterError. */
export function parseQuery(given: Readonly<Record<string, string | undefined>>, now = Date.now()): CallQuery {
  const unknown = Object.keys(given).find(name => !QUERY_NAMES.includes(name as 'q'))
  if (unknown !== undefined)
    throw new FilterError(`unknown parameter '${unknown}'; expected one of ${QUERY_NAMES.join(', ')}`)
  const { outcome, since, until, limit, cursor } = given
  const query: CallQuery = {}
  for (const name of TEXTS) if (given[name] !== undefined && given[name] !== '') query[name] = given[name]
  if (query.q !== undefined) checkWords(query.q)
  if (outcome !== undefined) query.outcome = oneOf(outcome)
  if (since !== undefined) query.since = parseTime(since, 'since', now)
  if (until !== undefined) query.until = parseTime(until, 'until', now)
  if (limit !== undefined) query.limit = limitOf(limit)
  if (cursor !== undefined) {
    positionOf(cursor)
    query.cursor = cursor
  }
  return query
}

const MAX_WORDS = 20

function checkWords(q: string): void {
  const words = wordsOf(q).length
  if (words === 0 || words > MAX_WORDS) throw new FilterError(`invalid q; expected 1 to ${MAX_WORDS} words`)
}

function oneOf(outcome: string): string {
  if (OUTCOMES.includes(outcome)) return outcome
  throw new FilterError(`invalid outcome '${outcome}'; expected one of ${OUTCOMES.join(', ')}`)
}

function limitOf(text: string): number {
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new FilterError(`invalid limit '${text}'; expected a number from 1 to ${MAX_LIMIT}`)
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** `90s`, `15m`, `1h`, `2d` or `1w` ago, a date, a date and time, or milliseconds since 1970. */
function parseTime(text: string, name: string, now: number): number {
  const [, amount, unit = ''] = /^(\d{1,9}(?:\.\d+)?)\s*([smhdw])$/.exec(text) ?? []
  if (amount !== undefined) return now - Number(amount) * (UNITS[unit] ?? 0)
  if (/^\d{10,16}$/.test(text)) return Number(text)
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(time)) return time
  throw new FilterError(
    `invalid ${name} '${text}'; expected 90s, 15m, 1h, 2d, a date such as 2026-01-31, or milliseconds since 1970`,
  )
}

/** Where a page begins: after the call with this time and id. */
export interface Position {
  time: number
  id: number
}

export function cursorOf({ time, id }: Position): string {
  return `${time}-${id}`
}

export function positionOf(cursor: string): Position {
  const [, time, id] = /^(\d{1,16})-(\d{1,16})$/.exec(cursor) ?? []
  if (id === undefined)
    throw new FilterError(`invalid cursor '${cursor.slice(0, 50)}'; expected 'next' of the previous page`)
  return { time: Number(time), id: Number(id) }
}

/** The words of a text, split as in the full-text index. */
export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.split(/[^\p{L}\p{N}\p{Co}]+/u).filter(word => word !== '')
}
