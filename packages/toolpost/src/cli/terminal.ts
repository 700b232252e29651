import type { Interface } from 'node:readline'
import { Writable } from 'node:stream'
import { escapeControls, safeText } from '../logging/safe-value.ts'
import type { Ask } from '../tools/caller.ts'
import type { Progress } from '../tools/tool.ts'

/** Where the command line writes: results to `out`, everything else to `err`. */
export interface Terminal {
  out: NodeJS.WriteStream
  err: NodeJS.WriteStream
  /** Standard input if left out. */
  in?: NodeJS.ReadableStream & { isTTY?: boolean }
}

/** Whether a person can be asked. */
export function isInteractive({ in: input = process.stdin, err }: Terminal): boolean {
  return input.isTTY === true && err.isTTY === true
}

/** Control characters are shown as text, so that no tool can move the cursor. */
const shownLines = (text: string) =>
  text
    .split('\n')
    .map(line => escapeControls(line.replaceAll('\t', '  ')))
    .join('\n')

/** Writes a result; escaped on a terminal only. */
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

/** Asks the person at the terminal; without a terminal, the answer is no. */
export function askingAt(terminal: Terminal, lines?: Interface): Ask {
  const asked = {
    input: terminal.in,
    output: terminal.err,
    say: (text: string) => say(terminal, text),
    lines,
  }
  let ask: Promise<Ask> | undefined
  return async question => {
    ask ??= import('./questions.ts').then(({ askAtTerminal }) => askAtTerminal(asked))
    return (await ask)(question)
  }
}

/** Prints rows under column headings, one line each; on a terminal they are cut at its width. */
export function printTable(names: readonly string[], rows: readonly string[][], { out }: Terminal): void {
  const shown = [[...names], ...rows].map(row => row.map(escapeControls))
  const widths = names.map((_, at) => Math.max(...shown.map(row => row[at]?.length ?? 0)))
  const room = out.isTTY ? out.columns || 100 : undefined
  for (const row of shown) {
    const line = row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
    out.write(`${room && line.length > room ? `${line.slice(0, room - 1)}…` : line}\n`)
  }
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
    end: () => void (last !== '' && err.isTTY && err.write(CLEAR)),
  }
}

/** A line that a person types; `undefined` if the terminal is closed or Toolpost is stopped. */
export async function typedLine(
  question: string,
  { err }: Terminal,
  { signal, isSecret = false }: { signal: AbortSignal; isSecret?: boolean },
): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises')
  // The line reader echoes what is typed, so for a secret its output is discarded.
  const output = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : err
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  if (isSecret) err.write(question)
  const closed = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)))
  const answer = lines.question(isSecret ? '' : question, { signal }).catch(() => undefined)
  const typed = await Promise.race([answer, closed])
  lines.close()
  if (isSecret || typed === undefined) err.write('\n')
  return typed
}

export const isYes = (typed: string | undefined): boolean => /^\s*y(es)?\s*$/i.test(typed ?? '')
