import { type Clock, systemClock, type Timer } from '../../runtime/clock.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { LIST_CHANGE_DELAY_MS } from '../limits.ts'

/** Tells once of changes that come together; gives a function that stops it. */
export function onListChanges(tools: ToolManager, tell: () => void, clock: Clock = systemClock): () => void {
  let timer: Timer | undefined
  const stop = tools.onChange(() => {
    if (timer) return
    timer = clock.setTimer(() => {
      timer = undefined
      tell()
    }, LIST_CHANGE_DELAY_MS)
    timer.hold(false)
  })
  return () => {
    timer?.cancel()
    stop()
  }
}
