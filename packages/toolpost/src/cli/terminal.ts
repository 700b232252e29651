import type { Interface } from 'node:readline'
import { escapeControls, safeText } from '../logging/safe-value.ts'
import type { Ask } from '../tools/caller.ts'
import type { Progress } from '../tools/tool.ts'
import { stop } from './exit.ts'

/* Results go to stdout, everything else to stderr. */

export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Control characters are shown as text, so that no tool can move the cursor. */
const shownLines = (text: string) => text.replaceAll('\t', '  ').split('\n').map(escapeControls).join('\n')

/** Writes a result; escaped on a terminal only. */
export function print(text: string): void {
  process.stdout.write(`${process.stdout.isTTY ? shownLines(text) : text}\n`)
}

export function printJson(value: unknown): number {
  print(JSON.stringify(value, null, 2))
  return 0
}

/** One line per field that has a value; what was recorded is escaped everywhere. */
export function printFields(fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (value !== undefined) print(escapeControls(`${name.padEnd(12)} ${text}`))
  }
}

export function say(text: string): void {
  process.stderr.write(`${shownLines(text)}\n`)
}

/** Asks the person at the terminal; without a terminal, the answer is no. */
export function asking(lines?: Interface): Ask {
  let ask: Promise<Ask> | undefined
  return async question => {
    ask ??= import('./questions.ts').then(({ askAtTerminal }) =>
      askAtTerminal({ output: process.stderr, say, lines }),
    )
    return (await ask)(question)
  }
}

interface Listing<T> {
  json?: boolean | undefined
  /** A row of the table, by column. */
  rowOf(one: T): Record<string, string | number>
  /** Said if there is nothing to list. */
  none?: string
}

/** Lists things as JSON, or as a table with a line each, which a terminal cuts at its width. */
export function printList<T>(list: readonly T[], { json, rowOf, none }: Listing<T>): number {
  if (json) return printJson(list)
  const rows = list.map(rowOf)
  const [first] = rows
  if (!first && none) say(none)
  const names = Object.keys(first ?? {})
  const shown = [names.map(name => name.toUpperCase()), ...rows.map(row => Object.values(row).map(String))]
  const cells = first ? shown.map(row => row.map(escapeControls)) : []
  const widths = names.map((_, at) => Math.max(...cells.map(row => row[at]?.length ?? 0)))
  const { isTTY, columns = 100 } = process.stdout
  for (const row of cells) {
    const line = row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
    process.stdout.write(`${(isTTY ? line.slice(0, columns) : line).trimEnd()}\n`)
  }
  return 0
}

/** In the local time zone. */
export function timeText(time: number | string): string {
  const date = new Date(time)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19).replace('T', ' ')
}

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

/** A line that a person types; `undefined` if the terminal is closed or Toolpost is stopped. */
export async function typedLine(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
  const closed = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)))
  const answer = lines.question(question, { signal: stop.signal }).catch(() => undefined)
  const typed = await Promise.race([answer, closed])
  lines.close()
  if (typed === undefined) process.stderr.write('\n')
  return typed
}

export const isYes = (typed: string | undefined): boolean => /^\s*y(es)?\s*$/i.test(typed ?? '')
