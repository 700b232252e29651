import { escapeControls, safeText } from '../logging/safe-value.ts'
import type { Ask } from '../tools/caller.ts'
import type { Progress } from '../tools/tool.ts'
import type { AskedTerminal } from './questions.ts'

/** Where the command line writes: results to `out`, everything else to `err`. */
export interface Terminal {
  out: NodeJS.WriteStream
  err: NodeJS.WriteStream
}

/** Writes a result. On a terminal its control characters are shown as text, so that no tool can move the cursor. */
export function printResult({ out }: Terminal, text: string): void {
  out.write(`${out.isTTY ? shownLines(text) : text}\n`)
}

export function printJson(terminal: Terminal, value: unknown): number {
  printResult(terminal, JSON.stringify(value, null, 2))
  return 0
}

/** Writes a message for the user to stderr. */
export function say({ err }: Terminal, text: string): void {
  err.write(`${shownLines(text)}\n`)
}

/** Asks the user at the terminal; without a terminal, the answer is no. */
export function askingAt(terminal: Terminal, where: Pick<AskedTerminal, 'input' | 'lines'> = {}): Ask {
  let ask: Promise<Ask> | undefined
  return async question => {
    ask ??= import('./questions.ts').then(({ askAtTerminal }) =>
      askAtTerminal({ ...where, output: terminal.err, say: text => say(terminal, text) }),
    )
    return (await ask)(question)
  }
}

function shownLines(text: string): string {
  return text
    .split('\n')
    .map(line => escapeControls(line.replaceAll('\t', '  ')))
    .join('\n')
}

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** Styled text on a terminal; plain elsewhere, or if NO_COLOR is set (no-color.org). */
export function styled({ isTTY }: NodeJS.WriteStream, style: keyof typeof STYLES, text: string): string {
  return isTTY && !process.env.NO_COLOR ? `\x1b[${STYLES[style]}m${text}\x1b[0m` : text
}

const GAP = '  '
/** Of every column but the last. */
const MAX_WIDTH = 40

/** Rows with aligned columns, one line each; on a terminal the last column is cut at its width. */
export function tableLines(rows: readonly (readonly string[])[], out: NodeJS.WriteStream): string[] {
  const cut = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 1)}…` : text)
  const shown = rows.map(row => row.map(escapeControls))
  const widths = (shown[0] ?? []).map((_, column) =>
    Math.min(MAX_WIDTH, Math.max(...shown.map(row => row[column]?.length ?? 0))),
  )
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0)
  const room = out.isTTY ? Math.max(10, (out.columns || 100) - before) : Number.POSITIVE_INFINITY
  return shown.map(row =>
    row
      .map((cell, column) =>
        column === row.length - 1
          ? cut(cell, room)
          : cut(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0),
      )
      .join(GAP)
      .trimEnd(),
  )
}

/** Prints rows under column headings. */
export function printTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  to: Terminal,
): void {
  const [head = '', ...lines] = tableLines([names, ...rows], to.out)
  to.out.write(`${[styled(to.out, 'bold', head), ...lines].join('\n')}\n`)
}

/** In the local time zone. */
export function timeText(time: number | string): string {
  const date = new Date(time)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19).replace('T', ' ')
}

const CLEAR = '\r\x1b[2K'

/** Shows the progress of a call on stderr: on a terminal one line that is overwritten, elsewhere a line per update. */
export function progressLine(terminal: Terminal): { show(progress: Progress): void; end(): void } {
  const { err } = terminal
  let last = ''
  return {
    show({ progress, total, message }) {
      const words = message === undefined ? '' : safeText(message, 200)
      const text = total ? `${Math.round((100 * progress) / total)} % ${words}` : `… ${words || progress}`
      if (text === last) return
      last = text
      if (err.isTTY) err.write(`${CLEAR}${escapeControls(text).slice(0, (err.columns || 80) - 1)}`)
      else say(terminal, text.trimEnd())
    },
    end() {
      if (last !== '' && err.isTTY) err.write(CLEAR)
    },
  }
}
