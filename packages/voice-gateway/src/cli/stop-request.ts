const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A request to stop by a signal. The same signal again exits immediately. */
export function stopRequest(onFirst: () => void): { signal: AbortSignal; forget(): void } {
  const controller = new AbortController()
  let first: NodeJS.Signals | undefined
  const stop = (name: NodeJS.Signals) => {
    if (first === name) process.exit(1)
    if (first !== undefined) return
    first = name
    onFirst()
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
