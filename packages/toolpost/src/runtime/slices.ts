import { nextTurn } from './turns.ts'

/** How long a slice of work may hold up the event loop. */
export const SLICE_MS = 8

/** Does work item by item, and lets the rest of the program in between; ends early if `work` gives `false`. */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => unknown): Promise<void> {
  let until = performance.now() + SLICE_MS
  for (const item of items) {
    if (work(item) === false) return
    if (performance.now() < until) continue
    await nextTurn(items)
    until = performance.now() + SLICE_MS
  }
}
