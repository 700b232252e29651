import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { unlessAborted } from '../util/clock.ts'

/** 1: the tool or the answer failed. 2: the command was misused, or the configuration is wrong; nothing ran. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** A misuse of the command line, reported in one line. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Thrown when waiting was cut short because the program was asked to stop. */
export class Stopped extends Error {
  override name = 'Stopped'
}

const stopping = new AbortController()
const waiting: (() => void)[] = []
const nextRequest = () => new Promise<void>(resolve => void waiting.push(resolve))

interface Stopping {
  /** Aborted with a `Stopped` by the first request. Commands then end soon, on their own. */
  readonly signal: AbortSignal
  readonly first: Promise<void>
  readonly second: Promise<void>
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
    stopping.abort(new Stopped('Toolpost was asked to stop'))
    waiting.shift()?.()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal)
}

/** The result of `work`; rejects with `Stopped` as soon as the program is asked to stop. */
export const unlessStopped = <T>(work: Promise<T>): Promise<T> => unlessAborted(work, stop.signal)
