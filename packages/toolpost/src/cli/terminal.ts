import { escapeControls } from '../logging/safe-value.ts'
import type { Ask } from '../tools/caller.ts'
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
export type Style = keyof typeof STYLES

/** Styled text on a terminal; plain elsewhere, or if NO_COLOR is set (no-color.org). */
export function styled(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return hasColour(stream) ? `\x1b[${STYLES[style]}m${text}\x1b[0m` : text
}

function hasColour({ isTTY }: NodeJS.WriteStream): boolean {
  return isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
}
