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

/** SIGTERM, Ctrl-C and a closed terminal, as a request to stop. */
export interface StopSignals {
  /** Aborted with a `Stopped` when the program is asked to stop. Commands then end soon, on their own. */
  readonly signal: AbortSignal
  /** Resolves when the program is asked to stop. */
  readonly first: Promise<void>
  /** Resolves when it is asked again. */
  readonly second: Promise<void>
  /** The exit code after a signal, by the shell's convention: 128 plus the number of the first signal. */
  exitCode: number | undefined
  /** If set, SIGHUP calls this instead of stopping, unless it means that the terminal was closed. */
  onHangup: (() => void) | undefined
}

export function stopSignals(): StopSignals {
  const stopped = new AbortController()
  const waiting: (() => void)[] = []
  const nextRequest = () => new Promise<void>(resolve => void waiting.push(resolve))
  const hadTerminal = isatty(0)
  const [first, second] = [nextRequest(), nextRequest()]
  const signals: StopSignals = {
    ...{ signal: stopped.signal, first, second, exitCode: undefined, onHangup: undefined },
  }
  const stop = (name: NodeJS.Signals) => {
    // The descriptor of a closed terminal is no longer a TTY.
    if (name === 'SIGHUP' && signals.onHangup && isatty(0) === hadTerminal) return signals.onHangup()
    signals.exitCode ??= 128 + constants.signals[name]
    stopped.abort(new Stopped('Toolpost was asked to stop'))
    waiting.shift()?.()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
  return signals
}

/** The result of `work`; rejects with `Stopped` as soon as the program is asked to stop. */
export const unlessStopped = <T>(work: Promise<T>, { signal }: Pick<StopSignals, 'signal'>): Promise<T> =>
  unlessAborted(work, signal)
