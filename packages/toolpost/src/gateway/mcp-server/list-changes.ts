import type { Server } from '@modelcontextprotocol/server'
import type { Catalog } from '../../mcp/catalog.ts'
import { coalesced } from '../../runtime/coalesced.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'

/** Lists whose changes clients are notified of. */
export type OfferedList = 'tools' | 'resources' | 'prompts'

/** Reports changes, batching those that come together; returns a function that stops it. */
export function onListChanges(
  tools: ToolManager,
  catalog: Catalog | undefined,
  tell: (kind: OfferedList) => void,
): () => void {
  const kinds = ['tools', 'resources', 'prompts'] as const
  const stops = kinds.flatMap(kind => {
    const changes = coalesced(() => tell(kind))
    const stop = kind === 'tools' ? tools.onChange(changes.soon) : catalog?.on(kind, changes.soon)
    return [changes.stop, ...(stop ? [stop] : [])]
  })
  return () => {
    for (const stop of stops) stop()
  }
}

export function sendListChanged(server: Server, kind: OfferedList): Promise<void> {
  if (kind === 'tools') return server.sendToolListChanged()
  return kind === 'resources' ? server.sendResourceListChanged() : server.sendPromptListChanged()
}
