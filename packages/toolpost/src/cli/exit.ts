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
export class StopSignals {
  readonly #stopped = new AbortController()
  readonly #waiting: (() => void)[] = []
  /** Aborted with a `Stopped` when the program is asked to stop. Commands then end soon, on their own. */
  readonly signal: AbortSignal = this.#stopped.signal
  /** Resolve when the program is asked to stop, and when it is asked again. */
  readonly first = new Promise<void>(resolve => void this.#waiting.push(resolve))
  readonly second = new Promise<void>(resolve => void this.#waiting.push(resolve))
  /** The exit code after a signal, by the shell's convention: 128 plus the number of the first signal. */
  exitCode: number | undefined
  /** If set, SIGHUP calls this instead of stopping, unless it means that the terminal was closed. */
  onHangup: (() => void) | undefined

  constructor() {
    const hadTerminal = isatty(0)
    const stop = (name: NodeJS.Signals) => {
      // The descriptor of a closed terminal is no longer a TTY.
      if (name === 'SIGHUP' && this.onHangup && isatty(0) === hadTerminal) return this.onHangup()
      this.exitCode ??= 128 + constants.signals[name]
      this.#stopped.abort(new Stopped('Toolpost was asked to stop'))
      this.#waiting.shift()?.()
    }
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
  }
}

/** The result of `work`; rejects with `Stopped` as soon as the program is asked to stop. */
export const unlessStopped = <T>(work: Promise<T>, { signal }: Pick<StopSignals, 'signal'>): Promise<T> =>
  unlessAborted(work, signal)
