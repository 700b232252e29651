import { getEventListeners } from 'node:events'
import { quietly } from '../runtime/quietly.ts'

type Callback = (event: Event) => unknown
type Listener = Callback | { handleEvent: Callback }

/**
 * Aborts a tool's signal. Node would crash the process if a listener throws or rejects; here the error goes to `onError`.
 * Listeners are guarded now rather than when they are added, because most calls are never aborted.
 */
export function abortQuietly(
  controller: AbortController,
  reason: unknown,
  onError: (error: unknown) => void,
): void {
  const { signal } = controller
  const guards = new Map<unknown, Callback>()
  for (const listener of getEventListeners(signal, 'abort') as Listener[]) {
    const guard = (event: Event) => quietly(() => notify(listener, signal, event), onError)
    guards.set(listener, guard)
    for (const capture of [false, true]) signal.removeEventListener('abort', listener, { capture })
    signal.addEventListener('abort', guard)
  }
  // A listener may remove another that has not run yet.
  const take = signal.removeEventListener
  signal.removeEventListener = (type: string, listener: Listener) =>
    take.call(signal, type, guards.get(listener) ?? listener)
  withGuardedTicks(() => controller.abort(reason), onError)
}

/** Node rethrows errors of listeners on dependent signals (`AbortSignal.any`) in the next tick: the only place to catch them. */
function withGuardedTicks(action: () => void, onError: (error: unknown) => void): void {
  const { nextTick } = process
  process.nextTick = (callback, ...args: unknown[]) =>
    nextTick(() => quietly(() => callback(...args), onError))
  try {
    action()
  } finally {
    process.nextTick = nextTick
  }
}

function notify(listener: Listener, signal: AbortSignal, event: Event): unknown {
  return typeof listener === 'function' ? listener.call(signal, event) : listener.handleEvent(event)
}
