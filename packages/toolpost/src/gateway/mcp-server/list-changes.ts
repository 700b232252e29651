import type { Server } from '@modelcontextprotocol/server'
import type { Catalog } from '../../mcp/catalog.ts'
import type { Clock } from '../../runtime/clock.ts'
import { together } from '../../runtime/together.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'

/** What clients can list. */
export type ListKind = 'tools' | 'resources' | 'prompts'

/** Tells once of changes that come together; returns a function that stops it. */
export function onListChanges(
  tools: ToolManager,
  catalog: Catalog | undefined,
  tell: (kind: ListKind) => void,
  clock?: Clock,
): () => void {
  const kinds = ['tools', 'resources', 'prompts'] as const
  const stops = kinds.flatMap(kind => {
    const changes = together(() => tell(kind), clock)
    const stop = kind === 'tools' ? tools.onChange(changes.soon) : catalog?.on(kind, changes.soon)
    return [changes.stop, ...(stop ? [stop] : [])]
  })
  return () => {
    for (const stop of stops) stop()
  }
}

export function sendListChanged(server: Server, kind: ListKind): Promise<void> {
  if (kind === 'tools') return server.sendToolListChanged()
  return kind === 'resources' ? server.sendResourceListChanged() : server.sendPromptListChanged()
}
