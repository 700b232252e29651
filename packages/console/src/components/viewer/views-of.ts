import { isRecord } from '../../api/guards.ts'
import { looksLikeMarkdown } from '../markdown/marks.ts'

/* How a value can be shown; the first view is the default. */

export type ViewKind = 'markdown' | 'table' | 'json' | 'text'

export interface Views {
  kinds: ViewKind[]
  /** The value as data, if it is any; text that contains JSON is parsed. */
  data?: unknown
  table?: TableData | undefined
}

export interface TableData {
  columns: string[]
  rows: Record<string, unknown>[]
  /** The other fields next to the list. */
  rest: Record<string, unknown>
}

/** Longer text is not parsed as JSON: the page would freeze. */
const MAX_JSON = 16_000_000

export function viewsOf(value: unknown): Views {
  if (typeof value !== 'string')
    return typeof value === 'object' && value !== null ? dataViews(value) : { kinds: ['text'] }
  const data = jsonIn(value)
  if (data !== undefined) return dataViews(data)
  return { kinds: looksLikeMarkdown(value) ? ['markdown', 'text'] : ['text'] }
}

function dataViews(data: object): Views {
  const table = tableOf(data)
  return { kinds: table ? ['table', 'json', 'text'] : ['json', 'text'], data, table }
}

function jsonIn(text: string): object | undefined {
  if (text.length > MAX_JSON || !/^\s*[[{]/.test(text)) return undefined
  try {
    const data: unknown = JSON.parse(text)
    return typeof data === 'object' && data !== null ? data : undefined
  } catch {
    return undefined
  }
}

const MAX_COLUMNS = 16
const SAMPLED_ROWS = 100
/** The most fields next to the list. */
const MAX_BESIDE = 8

/** A list of objects with mostly the same keys, including one inside an object with few other fields. */
export function tableOf(value: unknown): TableData | undefined {
  if (Array.isArray(value)) return tableOfList(value, {})
  if (!isRecord(value)) return undefined
  const entries = Object.entries(value).slice(0, MAX_BESIDE + 2)
  if (entries.length > MAX_BESIDE + 1) return undefined
  const tables = entries.flatMap(([name, one]) => {
    const rest = Object.fromEntries(entries.filter(([other]) => other !== name))
    return (Array.isArray(one) && tableOfList(one, rest)) || []
  })
  return tables.length === 1 ? tables[0] : undefined
}

function tableOfList(list: unknown[], rest: Record<string, unknown>): TableData | undefined {
  if (list.length < 2 || !list.every(isRecord)) return undefined
  const sample = list.slice(0, SAMPLED_ROWS)
  const counts = new Map<string, number>()
  for (const row of sample)
    for (const key of Object.keys(row).slice(0, MAX_COLUMNS + 1)) counts.set(key, (counts.get(key) ?? 0) + 1)
  const columns = [...counts.keys()]
  const isAlike =
    [...counts.values()].filter(count => count >= sample.length / 2).length >= columns.length / 2
  if (columns.length === 0 || columns.length > MAX_COLUMNS || !isAlike) return undefined
  return { columns, rows: list, rest }
}
