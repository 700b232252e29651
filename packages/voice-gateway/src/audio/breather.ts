import { setImmediate } from 'node:timers/promises'

/** Well below what anybody would notice, even with a slow slice on top. */
const WORK_MS = 8

/**
 * For sliced work on the main thread: awaited between slices, it yields to everything else once the work has
 * taken a few milliseconds.
 */
export function breather(): () => Promise<void> {
  let lastTurn = performance.now()
  return async () => {
    if (performance.now() - lastTurn < WORK_MS) return
    await setImmediate()
    lastTurn = performance.now()
  }
}
