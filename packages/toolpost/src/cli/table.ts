import { escapeControls } from '../logging/safe-value.ts'
import { styled, type Terminal } from './terminal.ts'

/** Assumed width of a terminal that reports none, or 0. */
export const DEFAULT_COLUMNS = 100
const GAP = '  '
/** Of every column but the last. */
const MAX_WIDTH = 40

interface TableOptions {
  /** Lines are cut at this width; not at all if left out. */
  columns?: number | undefined
  /** Styles a cell after it was padded to the width of its column; must not change its visible width. */
  style?: ((text: string, column: number, row: number) => string) | undefined
}

/** Rows with aligned columns, one line each. */
export function tableLines(rows: readonly (readonly string[])[], options: TableOptions = {}): string[] {
  const { columns, style = (text: string) => text } = options
  const count = Math.max(0, ...rows.map(row => row.length))
  const widths = Array.from({ length: count }, (_, column) =>
    Math.min(MAX_WIDTH, Math.max(0, ...rows.map(row => row[column]?.length ?? 0))),
  )
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0)
  const room = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(10, columns - before)
  return rows.map((row, at) =>
    row
      .map((cell, column) => {
        const isLast = column === count - 1
        const width = widths[column] ?? 0
        const text = isLast ? shortened(cell, room) : shortened(cell, width).padEnd(width)
        return style(text, column, at)
      })
      .join(GAP)
      .trimEnd(),
  )
}

function shortened(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text
}

/** Prints rows under column headings. Control characters are shown, not interpreted. */
export function printTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  { out }: Terminal,
  style: (text: string, column: number) => string = text => text,
): void {
  const columns = out.isTTY ? out.columns || DEFAULT_COLUMNS : undefined
  const look = (text: string, column: number, row: number) =>
    row === 0 ? styled(out, 'bold', text) : style(text, column)
  const lines = tableLines([names, ...rows.map(row => row.map(escapeControls))], { columns, style: look })
  out.write(`${lines.join('\n')}\n`)
}

/** In the local time zone. */
export function timeText(time: number): string {
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19).replace('T', ' ')
}
