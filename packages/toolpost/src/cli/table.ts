import { escapeControls } from '../logging/safe-value.ts'
import { bold, type Terminal } from './terminal.ts'

const MAX_WIDTH = 40
const DEFAULT_COLUMNS = 120

/** Prints rows under the names of their columns; the last one as long as the terminal is wide. What it says is shown, and not obeyed. */
export function printTable(
  names: readonly string[],
  given: readonly (readonly string[])[],
  terminal: Terminal,
): void {
  const rows = given.map(row => row.map(escapeControls))
  const widths = names.map((name, column) =>
    Math.min(MAX_WIDTH, Math.max(name.length, ...rows.map(row => row[column]?.length ?? 0))),
  )
  const { columns = DEFAULT_COLUMNS, isTTY } = terminal.out
  const lineOf = (cells: readonly string[]) => {
    const last = cells.length - 1
    const line = cells.map((cell, at) => (at === last ? cell : cut(cell, widths[at] ?? 0))).join('  ')
    return isTTY ? line.slice(0, columns) : line
  }
  terminal.out.write(`${[bold(terminal, lineOf(names)), ...rows.map(lineOf)].join('\n')}\n`)
}

/** In the time zone of the person who reads it. */
export function timeText(time: number): string {
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19).replace('T', ' ')
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width)
}
