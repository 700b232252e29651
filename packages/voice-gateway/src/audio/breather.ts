import { setImmediate } from 'node:timers/promises'

/** Well below what anybody would notice: a slow slice comes on top. */
const WORK_MS = 8

/**
 * For work in slices on the main thread: awaited between two of them, it lets everything else have its turn as
 * soon as the work has taken a few milliseconds.
 */
export function breather(): () => Promise<void> {
  let lastTurn = performance.now()
  return async () => {
    if (performance.now() - lastTurn < WORK_MS) return
    await setImmediate()
    lastTurn = performance.now()
  }
}
