import type { ReactNode } from 'react'
import { visibleText } from '../text/visible-text.ts'

interface Props {
  /** The first one is that of the fields' names. */
  heads: readonly ReactNode[]
  rows: readonly { path: string; cells: readonly ReactNode[] }[]
}

/** Fields of a value by their paths, with what is to be compared side by side. */
export function FieldTable({ heads, rows }: Props) {
  return (
    <table className="w-full table-fixed text-left">
      <thead className="text-xs text-muted">
        <tr>
          {heads.map((head, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their order
            <th key={at} className="py-1 pr-3 font-medium first:w-1/3 md:first:w-1/4">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ path, cells }) => (
          <tr key={path} className="border-t border-line align-top">
            <th scope="row" className="py-1 pr-3 font-mono text-xs font-normal break-words text-muted">
              {visibleText(path) || 'value'}
            </th>
            {cells.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their order
              <td key={at} className="py-1 pr-3 break-words">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
