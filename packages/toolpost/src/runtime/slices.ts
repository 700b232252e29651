import { nextTurn } from './turns.ts'

/** How long a slice of work may block the event loop. */
export const SLICE_MS = 8

/** Does work item by item and regularly yields to the event loop; stops early if `work` returns `false`. */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => unknown): Promise<void> {
  let until = performance.now() + SLICE_MS
  for (const item of items) {
    if (work(item) === false) return
    if (performance.now() < until) continue
    await nextTurn(items)
    until = performance.now() + SLICE_MS
  }
}
