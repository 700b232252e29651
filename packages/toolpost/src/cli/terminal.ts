import { constants } from 'node:os'
import type { Interface } from 'node:readline'
import { isatty } from 'node:tty'
import { escapeControls, safeText } from '../logging/safe-value.ts'
import type { Ask } from '../tools/caller.ts'
import type { Progress } from '../tools/tool.ts'
import { unlessAborted } from '../util/clock.ts'
import type { Flags } from './context.ts'

/* What a command shares with the shell that runs it: exit codes, signals, and text. Results go to stdout, the rest to stderr. */

/** 1: the tool or the answer failed. 2: the command was misused, or the configuration is wrong; nothing ran. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** A misuse of the command line, reported in one line. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Waiting was cut short because the program was asked to stop. */
export class Stopped extends Error {
  override name = 'Stopped'
  override message = 'Toolpost was asked to stop'
}

const stopping = new AbortController()
const waiting: (() => void)[] = []
const nextRequest = () => new Promise<void>(resolve => void waiting.push(resolve))

interface Stopping {
  /** Aborted with a `Stopped` by the first request. Commands then end soon, on their own. */
  signal: AbortSignal
  first: Promise<void>
  second: Promise<void>
  /** By the shell's convention: 128 plus the number of the first signal. */
  exitCode?: number
  /** If set, SIGHUP calls this instead of stopping, unless it means that the terminal was closed. */
  onHangup?: () => void
}

/** SIGTERM, Ctrl-C and a closed terminal, as requests to stop. */
export const stop: Stopping = { signal: stopping.signal, first: nextRequest(), second: nextRequest() }

export function listenForSignals(): void {
  const hadTerminal = isatty(0)
  const onSignal = (name: NodeJS.Signals) => {
    // The descriptor of a closed terminal is no longer a TTY.
    if (name === 'SIGHUP' && stop.onHangup && isatty(0) === hadTerminal) return stop.onHangup()
    stop.exitCode ??= 128 + constants.signals[name]
    stopping.abort(new Stopped())
    waiting.shift()?.()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal)
}

/** The result of `work`; rejects with `Stopped` as soon as the program is asked to stop. */
export const unlessStopped = <T>(work: Promise<T>): Promise<T> => unlessAborted(work, stop.signal)

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

/** As JSON, or one line per field that has a value; what was recorded is escaped everywhere. */
export function printFields(fields: object, json = false): number {
  if (json) return printJson(fields)
  for (const [name, value] of Object.entries(fields)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (value !== undefined) print(escapeControls(`${name.padEnd(12)} ${text}`))
  }
  return EXIT.ok
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

/** The number given as an option, if there is one. */
export function numberOf(flags: Flags, name: keyof Flags, min: number, max: number): number | undefined {
  const given = flags[name]
  if (given === undefined || (Number(given) >= min && Number(given) <= max))
    return given === undefined ? undefined : Number(given)
  throw new UsageError(`--${name} expects a number from ${min} to ${max}, got '${given}'`)
}

export const timeoutOf = (flags: Flags): number | undefined => numberOf(flags, 'timeout', 1, 2_147_483_647)

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
