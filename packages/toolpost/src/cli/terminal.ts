import type { Interface } from 'node:readline'
import { escapeControls, safeText } from '../logging/safe-value.ts'
import type { Ask } from '../tools/caller.ts'
import type { Progress } from '../tools/tool.ts'
import { EXIT } from './process.ts'

/* What a person reads: results go to stdout, the rest to stderr. */

/** Control characters are shown as text, so that no tool can move the cursor. */
const shownLines = (text: string) => text.replaceAll('\t', '  ').split('\n').map(escapeControls).join('\n')

/** Writes a result; escaped on a terminal only. */
export function print(text: string): void {
  process.stdout.write(`${process.stdout.isTTY ? shownLines(text) : text}\n`)
}

export function say(text: string): void {
  process.stderr.write(`${shownLines(text)}\n`)
}

export function printJson(value: unknown): number {
  print(JSON.stringify(value, null, 2))
  return EXIT.ok
}

/** One line per field that has a value; what was recorded is escaped everywhere. */
export function printFields(fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (value !== undefined) print(escapeControls(`${name.padEnd(12)} ${text}`))
  }
}

/** Prints rows by column as a table, which a terminal cuts at its width; says `none` if there are none. */
export function printTable(rows: readonly Record<string, string | number>[], none = ''): number {
  const names = Object.keys(rows[0] ?? {})
  if (rows.length === 0) say(none)
  const lines = rows.length > 0 ? [names.map(name => name.toUpperCase()), ...rows.map(Object.values)] : []
  const cells = lines.map(row => row.map(cell => escapeControls(String(cell))))
  const widths = names.map((_, at) => Math.max(...cells.map(row => row[at]?.length ?? 0)))
  const { isTTY, columns = 100 } = process.stdout
  for (const row of cells) {
    const line = row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
    process.stdout.write(`${(isTTY ? line.slice(0, columns) : line).trimEnd()}\n`)
  }
  return EXIT.ok
}

/** In the local time zone; Swedish has the format of ISO 8601. */
export const timeText = (time: number | string): string => new Date(time).toLocaleString('sv-SE')

/** `1 tool`, `2 tools`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const CLEAR = '\r\x1b[2K'

/** Shows progress on stderr: on a terminal one line that is overwritten, elsewhere a line per update. */
export function progressLine(): { show(progress: Progress): void; end(): void } {
  const { isTTY, columns = 80 } = process.stderr
  let last = ''
  return {
    show({ progress, total, message }) {
      const words = message === undefined ? '' : safeText(message, 200)
      const text = total ? `${Math.round((100 * progress) / total)} % ${words}` : `… ${words || progress}`
      if (text !== last && isTTY) process.stderr.write(`${CLEAR}${text.slice(0, columns - 1)}`)
      else if (text !== last) say(text.trimEnd())
      last = text
    },
    end: () => void (last !== '' && isTTY && process.stderr.write(CLEAR)),
  }
}

/** Asks the person at the terminal; without a terminal, the answer is no. */
export function asking(lines?: Interface): Ask {
  let ask: Promise<Ask> | undefined
  return async question => {
    ask ??= import('./questions.ts').then(each => each.askAtTerminal({ output: process.stderr, say, lines }))
    return (await ask)(question)
  }
}
