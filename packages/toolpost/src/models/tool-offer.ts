import { innerCall, searchTools } from '../tools/search/search-tools.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { fitsTool } from '../tools/tool-pattern.ts'

/**
 * The tools a model is offered. If there are more than `maxTools`: a search, the pinned ones (names with `*` and `?`), and
 * those this conversation has found or used.
 */
export function toolOffer(
  tools: readonly Tool[],
  manager: ToolManager,
  maxTools: number,
  pin: readonly string[],
) {
  const isSearched = tools.length > maxTools
  const shown = new Map<string, Tool>()
  let isChanged = true

  /** If there are too many of these as well, the latest stay. */
  const show = (found: Iterable<Tool>) => {
    for (const tool of found) {
      if (!shown.delete(tool.name)) isChanged = true
      shown.set(tool.name, tool)
    }
    const names = [...shown.keys()]
    for (const name of names.slice(0, Math.max(0, names.length - maxTools))) shown.delete(name)
  }

  const isPinned = (tool: Tool) =>
    pin.some(pattern => fitsTool(pattern, tool, manager.originOf(tool)?.server))
  if (isSearched) show(tools.filter(isPinned))
  const helpers = isSearched ? searchTools({ tools: manager, among: () => tools, onFound: show }) : []
  return {
    /** Tools outside the manager: the search, and the reader of long results. */
    helpers,

    addHelper(tool: Tool): void {
      if (helpers.some(({ name }) => name === tool.name)) return
      helpers.push(tool)
      isChanged = true
    },

    /** Adds the tools a conversation has already used. */
    addUsed(calls: readonly { name: string; args?: unknown }[]): void {
      const names = new Set(calls.map(call => innerCall(call).name))
      if (isSearched) show(tools.filter(tool => names.has(tool.name)))
    },

    /** The tools to offer now, if they have changed since the last call. */
    changed(): readonly Tool[] | undefined {
      if (!isChanged) return undefined
      isChanged = false
      return [...helpers, ...(isSearched ? shown.values() : tools)]
    },
  }
}
