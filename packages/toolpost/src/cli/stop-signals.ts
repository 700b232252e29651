import { constants } from 'node:os'
import { isatty } from 'node:tty'

/** SIGTERM, Ctrl-C and a closed terminal, as a request to stop. */
export interface StopSignals {
  /** Aborted when the program is asked to stop. Commands then end soon, on their own. */
  readonly signal: AbortSignal
  /** Resolves when the program is asked to stop. */
  readonly first: Promise<void>
  /** Resolves when it is asked again. */
  readonly second: Promise<void>
  /** The exit code after a signal, by the shell's convention: 128 plus the number of the first signal. */
  readonly exitCode: number | undefined
  /** From now on SIGHUP calls `listener` instead of stopping, unless it means that the terminal was closed. */
  onHangup(listener: () => void): void
  /** Restores the default effect of the signals. */
  forget(): void
}

/** Thrown when waiting was cut short because the program was asked to stop. */
export class Stopped extends Error {
  override name = 'Stopped'
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export function stopSignals(): StopSignals {
  const stopped = new AbortController()
  const waiting: (() => void)[] = []
  let exitCode: number | undefined
  const nextRequest = () => new Promise<void>(resolve => void waiting.push(resolve))
  let reload: (() => void) | undefined
  const hadTerminal = isatty(0)
  const stop = (name: NodeJS.Signals) => {
    // The descriptor of a closed terminal is no longer a TTY.
    if (name === 'SIGHUP' && reload && isatty(0) === hadTerminal) return reload()
    exitCode ??= 128 + constants.signals[name]
    stopped.abort()
    waiting.shift()?.()
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return {
    signal: stopped.signal,
    first: nextRequest(),
    second: nextRequest(),
    get exitCode() {
      return exitCode
    },
    onHangup(listener) {
      reload = listener
    },
    forget: () => {
      for (const signal of SIGNALS) process.off(signal, stop)
    },
  }
}

/** The result of `work`; rejects with `Stopped` as soon as the signal is aborted, without waiting for the work. */
export function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Stopped('Toolpost was asked to stop'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    void work.then(resolve, reject).then(() => signal.removeEventListener('abort', stop))
  })
}
