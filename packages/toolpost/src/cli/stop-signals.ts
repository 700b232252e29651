/** SIGTERM, Ctrl-C and a closed terminal, as a request to stop. */
export interface StopSignals {
  /** Resolves when the program is asked to stop. */
  readonly first: Promise<void>
  /** Resolves when it is asked again. */
  readonly second: Promise<void>
  /** The signals have their usual effect again. */
  forget(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export function stopSignals(): StopSignals {
  const waiting: (() => void)[] = []
  const nextRequest = () => new Promise<void>(resolve => void waiting.push(resolve))
  const stop = () => waiting.shift()?.()
  for (const signal of SIGNALS) process.on(signal, stop)
  return {
    first: nextRequest(),
    second: nextRequest(),
    forget: () => {
      for (const signal of SIGNALS) process.off(signal, stop)
    },
  }
}
