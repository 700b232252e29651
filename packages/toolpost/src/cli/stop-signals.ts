import { constants } from 'node:os'
import { isatty } from 'node:tty'

/** SIGTERM, Ctrl-C and a closed terminal, as a request to stop. */
export interface StopSignals {
  /** Aborted when the program is asked to stop. A command then ends soon, by itself. */
  readonly signal: AbortSignal
  /** Resolves when the program is asked to stop. */
  readonly first: Promise<void>
  /** Resolves when it is asked again. */
  readonly second: Promise<void>
  /** Of a command that was ended by the first signal, as shells count: 128 and its number. */
  readonly exitCode: number | undefined
  /** From now on SIGHUP calls `listener` instead, unless the terminal that there was is closed. */
  onHangup(listener: () => void): void
  /** The signals have their usual effect again. */
  forget(): void
}

/** What was waited for when the program was asked to stop is left. */
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
    // Of a terminal that was closed, the descriptor is none any more.
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

/** What `work` gives; rejects with `Stopped` as soon as the signal is aborted, whatever becomes of the work. */
export function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Stopped('The program was asked to stop'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    void work.then(resolve, reject).then(() => signal.removeEventListener('abort', stop))
  })
}
