import { useMemo, useState } from 'react'
import { shortJson } from '../../text/json-text.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Facts } from '../facts.tsx'
import { Icon } from '../icon.tsx'
import { useShowMore } from '../show-more.tsx'
import type { TableData } from './views-of.ts'

const SHOWN_ROWS = 100

interface Order {
  column: string
  isDown: boolean
}

/** A list of similar objects, one per row; clicking a heading sorts. */
export function TableView({ table: { columns, rows, rest }, label }: { table: TableData; label: string }) {
  const [order, setOrder] = useState<Order>()
  const sorted = useMemo(() => (order ? inOrder(rows, order) : rows), [rows, order])
  const [limit, more] = useShowMore(rows.length, SHOWN_ROWS)
  return (
    <>
      <Facts
        facts={Object.fromEntries(
          Object.entries(rest).map(([name, value]) => [oneLine(name, 60), cellText(value)]),
        )}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable */}
      <section className="table-scroll" aria-label={label} tabIndex={0}>
        <table className="data-table">
          <thead>
            <tr>
              {columns.map(column => (
                <Head key={column} column={column} order={order} onOrder={setOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, limit).map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ids
              <tr key={at}>
                {columns.map(column => (
                  <Cell key={column} value={row[column]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more}
    </>
  )
}

interface HeadProps {
  column: string
  order: Order | undefined
  onOrder: (order: Order) => void
}

function Head({ column, order, onOrder }: HeadProps) {
  const isSorted = order?.column === column
  const isDown = isSorted && order.isDown
  return (
    <th scope="col" aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}>
      <button
        type="button"
        className="sort-button"
        onClick={() => onOrder({ column, isDown: isSorted && !isDown })}
      >
        {oneLine(column, 60)}
        {isSorted && <Icon name={isDown ? 'down' : 'up'} />}
      </button>
    </th>
  )
}

function Cell({ value }: { value: unknown }) {
  if (value === undefined || value === null) return <td className="muted">–</td>
  const text = cellText(value)
  return (
    <td
      className={typeof value === 'number' ? 'numeric figure' : undefined}
      title={text.length > 40 ? text : undefined}
    >
      {text}
    </td>
  )
}

function cellText(value: unknown): string {
  return typeof value === 'string' ? oneLine(value, 200) : shortJson(value, 200)
}

function inOrder(
  rows: readonly Record<string, unknown>[],
  { column, isDown }: Order,
): Record<string, unknown>[] {
  const sorted = rows.toSorted((a, b) => compared(a[column], b[column]))
  return isDown ? sorted.reverse() : sorted
}

function compared(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a ?? '').localeCompare(String(b ?? ''), undefined, { numeric: true })
}
