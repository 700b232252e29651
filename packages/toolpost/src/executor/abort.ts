import { getEventListeners } from 'node:events'
import { quietly } from '../util/quietly.ts'

/** What a caller's signal can end. */
interface Cancellable {
  cancel(): void
}

/** One listener per signal, however many calls share it: ten thousand would be slow and cause a warning. */
const watched = new WeakMap<AbortSignal, Set<Cancellable>>()

/** Cancels `call` when `signal` aborts, immediately if it already has. */
export function watch(signal: AbortSignal, call: Cancellable): void {
  if (signal.aborted) return call.cancel()
  const known = watched.get(signal)
  if (known) return void known.add(call)
  const calls = new Set([call])
  watched.set(signal, calls)
  const cancelAll = () => calls.forEach(each => void each.cancel())
  signal.addEventListener('abort', cancelAll, { once: true })
}

export function unwatch(signal: AbortSignal, call: Cancellable): void {
  watched.get(signal)?.delete(call)
}

type Listener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown }

/** Aborts a tool's signal. Node would end the process if a listener throws or rejects; here the error goes to `onError`. */
export function abortSafely(
  controller: AbortController,
  reason: string,
  onError: (error: unknown) => void,
): void {
  const { signal } = controller
  for (const listener of getEventListeners(signal, 'abort') as Listener[]) {
    for (const capture of [false, true]) signal.removeEventListener('abort', listener, { capture })
    const call = (event: Event) =>
      typeof listener === 'function' ? listener.call(signal, event) : listener.handleEvent(event)
    signal.addEventListener('abort', event => quietly(() => call(event), onError), { once: true })
  }
  controller.abort(new DOMException(reason, 'AbortError'))
}
