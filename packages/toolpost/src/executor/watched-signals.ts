/** What a caller's signal can end. */
interface Cancellable {
  cancel(): void
}

/** One listener per signal, however many calls share it: ten thousand would be slow and cause a warning. */
const watched = new WeakMap<AbortSignal, Set<Cancellable>>()

/** Cancels `call` when `signal` aborts, immediately if it already has. */
export function watch(signal: AbortSignal, call: Cancellable): void {
  if (signal.aborted) return call.cancel()
  let calls = watched.get(signal)
  if (!calls) {
    calls = new Set()
    watched.set(signal, calls)
    signal.addEventListener('abort', () => cancelAll(signal), { once: true })
  }
  calls.add(call)
}

export function unwatch(signal: AbortSignal, call: Cancellable): void {
  watched.get(signal)?.delete(call)
}

function cancelAll(signal: AbortSignal): void {
  const calls = watched.get(signal)
  watched.delete(signal)
  for (const call of calls ?? []) call.cancel()
}
