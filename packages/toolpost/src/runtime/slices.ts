import { setImmediate as turn } from 'node:timers/promises'

/** How long a slice of work may hold up the event loop. */
export const SLICE_MS = 8

/** Does work item by item, and lets the rest of the program in between; ends early if `work` gives `false`. */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => unknown): Promise<void> {
  let until = performance.now() + SLICE_MS
  for (const item of items) {
    if (work(item) === false) return
    if (performance.now() < until) continue
    await turn()
    until = performance.now() + SLICE_MS
  }
}

let lastTurn: Promise<void> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that nobody else has who asked here: for work that takes its time and cannot be
 * cut. Many such pieces at once then hold the others up for one of them, and not for their sum.
 */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => turn())
  return lastTurn
}
