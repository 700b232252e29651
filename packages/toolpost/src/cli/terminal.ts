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
  const hasColour = isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return hasColour ? `\x1b[${STYLES[style]}m${text}\x1b[0m` : text
}

/** Assumed width of a terminal that reports none, or 0. */
export const DEFAULT_COLUMNS = 100
const GAP = '  '
/** Of every column but the last. */
const MAX_WIDTH = 40

/**
 * Rows with aligned columns, one line each, cut at `columns`. `style` styles a cell after it was padded; it must not change
 * its visible width.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
  style: (text: string, column: number, row: number) => string = text => text,
): string[] {
  const count = Math.max(0, ...rows.map(row => row.length))
  const widths = Array.from({ length: count }, (_, column) =>
    Math.min(MAX_WIDTH, Math.max(0, ...rows.map(row => row[column]?.length ?? 0))),
  )
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0)
  const room = Math.max(10, columns - before)
  const cut = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 1)}…` : text)
  return rows.map((row, at) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return style(column === count - 1 ? cut(cell, room) : cut(cell, width).padEnd(width), column, at)
      })
      .join(GAP)
      .trimEnd(),
  )
}

/** Prints rows under column headings. Control characters are shown, not interpreted. */
export function printTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  { out }: Terminal,
  style: (text: string, column: number) => string = text => text,
): void {
  const columns = out.isTTY ? out.columns || DEFAULT_COLUMNS : undefined
  const lines = tableLines(
    [names, ...rows.map(row => row.map(escapeControls))],
    columns,
    (text, column, row) => (row === 0 ? styled(out, 'bold', text) : style(text, column)),
  )
  out.write(`${lines.join('\n')}\n`)
}

/** In the local time zone. */
export function timeText(time: number): string {
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19).replace('T', ' ')
}

const CLEAR = '\r\x1b[2K'
const BAR = 20
const MAX_MESSAGE = 200

/** The progress of a call on stderr: on a terminal one line that is overwritten, elsewhere a line per update. */
export class ProgressLine {
  readonly #terminal: Terminal
  #last = ''

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  show(progress: Progress): void {
    const text = progressText(progress)
    if (text === this.#last) return
    this.#last = text
    const { err } = this.#terminal
    if (err.isTTY) err.write(`${CLEAR}${text.slice(0, (err.columns || 80) - 1)}`)
    else say(this.#terminal, text)
  }

  /** Leaves the terminal as it was. */
  end(): void {
    const { err } = this.#terminal
    if (this.#last !== '' && err.isTTY) err.write(CLEAR)
  }
}

/** `[██████░░░░░░] 50 % copying`. */
function progressText({ progress, total, message }: Progress): string {
  const words = message === undefined ? '' : safeText(message, MAX_MESSAGE)
  if (total === undefined || !(total > 0)) return `… ${words || progress}`.trimEnd()
  const share = Math.min(1, Math.max(0, progress / total))
  const full = Math.round(share * BAR)
  return `[${'█'.repeat(full)}${'░'.repeat(BAR - full)}] ${Math.round(share * 100)} % ${words}`.trimEnd()
}

const REDRAW_MS = 1_000

/** Keeps a status line at the bottom of a terminal; all other output appears above it. Does nothing without a terminal. */
export function keepStatusLine({ err }: Terminal, text: () => string): { stop(): void } {
  if (!err.isTTY) return { stop: () => {} }
  const write = err.write.bind(err)
  const draw = () =>
    write(`${CLEAR}\x1b[90m${escapeControls(text()).slice(0, (err.columns || 80) - 1)}\x1b[0m`)
  err.write = ((...given: Parameters<typeof write>) => {
    write(CLEAR)
    const isTaken = write(...given)
    draw()
    return isTaken
  }) as typeof err.write
  const timer = setInterval(draw, REDRAW_MS)
  draw()
  return {
    stop: () => {
      clearInterval(timer)
      err.write = write
      write(CLEAR)
    },
  }
}
