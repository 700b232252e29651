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
  exitCode: number | undefined
  /** If set, SIGHUP calls this instead of stopping, unless it means that the terminal was closed. */
  onHangup: (() => void) | undefined
}

/** Thrown when waiting was cut short because the program was asked to stop. */
export class Stopped extends Error {
  override name = 'Stopped'
}

export function stopSignals(): StopSignals {
  const stopped = new AbortController()
  const waiting: (() => void)[] = []
  const nextRequest = () => new Promise<void>(resolve => void waiting.push(resolve))
  const hadTerminal = isatty(0)
  const signals: StopSignals = {
    signal: stopped.signal,
    first: nextRequest(),
    second: nextRequest(),
    exitCode: undefined,
    onHangup: undefined,
  }
  const stop = (name: NodeJS.Signals) => {
    // The descriptor of a closed terminal is no longer a TTY.
    if (name === 'SIGHUP' && signals.onHangup && isatty(0) === hadTerminal) return signals.onHangup()
    signals.exitCode ??= 128 + constants.signals[name]
    stopped.abort()
    waiting.shift()?.()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
  return signals
}

/** The result of `work`; rejects with `Stopped` as soon as the signal is aborted, without waiting for the work. */
export async function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new Stopped('Toolpost was asked to stop'))
  })
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  return Promise.race([work, stopped]).finally(() => signal.removeEventListener('abort', stop))
}
