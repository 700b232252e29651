import type { Clock } from '../../runtime/clock.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { together } from '../together.ts'

/** Tells once of changes that come together; returns a function that stops it. */
export function onListChanges(tools: ToolManager, tell: () => void, clock?: Clock): () => void {
  const changes = together(tell, clock)
  const stop = tools.onChange(changes.soon)
  return () => {
    changes.stop()
    stop()
  }
}
