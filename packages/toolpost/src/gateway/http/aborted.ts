/** Resolves when the signal aborts; never, without one. */
export function aborted(signal: AbortSignal | undefined): Promise<undefined> {
  return new Promise(resolve => {
    if (signal?.aborted) resolve(undefined)
    else signal?.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
