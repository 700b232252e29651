import { useMemo } from 'react'
import { isRecord } from '../api/http.ts'
import { jsonText, parsedJson } from '../text/json-text.ts'
import { clipped, oneLine } from '../text/visible-text.ts'
import { CodeBlock, CopyButton } from './code.tsx'
import { ScrollBox } from './controls.tsx'
import { Json } from './json.tsx'
import { looksLikeMarkdown, Markdown } from './markdown.tsx'
import { type Tab, Tabs } from './tabs.tsx'

/** More text than this is cut; it can be copied in full. */
const MAX_TEXT = 20_000
/** Longer text is not parsed as JSON: the page would freeze. */
const MAX_JSON = 4_000_000
const MAX_ROWS = 200
const MAX_COLUMNS = 12

/** A value in the way that suits it, with the others to choose from: Markdown, table, tree, text. */
export function ValueView({ value, label }: { value: unknown; label: string }) {
  const tabs = useMemo(() => viewsOf(value, label), [value, label])
  const text = () => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))
  if (tabs.length === 1) return tabs[0]?.content
  return <Tabs label={`${label} as`} tabs={tabs} action={<CopyButton text={text} />} />
}

function viewsOf(value: unknown, label: string): Tab[] {
  const data = typeof value === 'string' ? jsonIn(value) : value
  const source = typeof value === 'string' ? clipped(value, MAX_TEXT) : jsonText(value, MAX_TEXT)
  const text: Tab = { value: 'text', label: 'Text', content: <CodeBlock text={source} label={label} /> }
  if (typeof data !== 'object' || data === null) {
    if (typeof value !== 'string' || !looksLikeMarkdown(value)) return [text]
    return [{ value: 'markdown', label: 'Markdown', content: <Markdown text={value} /> }, text]
  }
  const table = tableIn(data)
  const tree: Tab = { value: 'json', label: 'JSON', content: <Json value={data} label={label} /> }
  if (!table) return [tree, text]
  return [{ value: 'table', label: 'Table', content: <Table {...table} label={label} /> }, tree, text]
}

function jsonIn(text: string): unknown {
  return text.length <= MAX_JSON && /^\s*[[{]/.test(text) ? parsedJson(text)?.value : undefined
}

interface TableData {
  columns: string[]
  rows: Record<string, unknown>[]
}

/** A list of alike objects, alone or as the only such list in an object. */
function tableIn(data: object): TableData | undefined {
  const lists = (Array.isArray(data) ? [data] : Object.values(data)).filter(
    (list): list is Record<string, unknown>[] =>
      Array.isArray(list) && list.length > 1 && list.every(isRecord),
  )
  const [rows] = lists
  if (lists.length !== 1 || !rows) return undefined
  const columns = [...new Set(rows.slice(0, 50).flatMap(row => Object.keys(row)))]
  return columns.length > 0 && columns.length <= MAX_COLUMNS ? { columns, rows } : undefined
}

function Table({ columns, rows, label }: TableData & { label: string }) {
  return (
    <ScrollBox label={label} className="card max-h-[32rem]">
      <table className="w-full text-left text-xs">
        <thead className="sticky top-0 bg-raised">
          <tr>
            {columns.map(column => (
              <th key={column} className="px-3 py-1.5 font-medium whitespace-nowrap text-muted">
                {oneLine(column, 60)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no names
            <tr key={at} className="border-t border-line">
              {columns.map(column => (
                <td key={column} className="max-w-80 px-3 py-1 align-top break-words">
                  {cellText(row[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_ROWS && (
        <p className="p-3 text-muted">{rows.length - MAX_ROWS} more rows in JSON.</p>
      )}
    </ScrollBox>
  )
}

/** A value in one line; nothing for one that is missing. */
export function cellText(value: unknown, limit = 300): string {
  if (value === undefined || value === null) return ''
  return oneLine(typeof value === 'string' ? value : jsonText(value, limit, 0), limit)
}
