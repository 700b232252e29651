const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A request to stop, by a signal. Whoever asks again does not want to wait. */
export function stopRequest(): { signal: AbortSignal; forget(): void } {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) process.exit(1)
    controller.abort()
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return {
    signal: controller.signal,
    forget: () => {
      for (const signal of SIGNALS) process.off(signal, stop)
    },
  }
}
