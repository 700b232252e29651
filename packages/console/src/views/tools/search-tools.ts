import type { ToolInfo } from 'toolpost/gateway'

/** The tools that have every word of the query somewhere; those with it in their name come first. */
export function searchTools(tools: readonly ToolInfo[], query: string): ToolInfo[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return [...tools]
  const found = tools.filter(tool =>
    hasAll(words, `${tool.name} ${tool.title ?? ''} ${tool.description} ${tool.source}`),
  )
  const isNamed = (tool: ToolInfo) => hasAll(words, tool.name)
  return [...found.filter(isNamed), ...found.filter(tool => !isNamed(tool))]
}

function hasAll(words: string[], text: string): boolean {
  const lower = text.toLowerCase()
  return words.every(word => lower.includes(word))
}

/** The local tools first, then the servers in the order in which their tools come. */
export function groupBySource(tools: readonly ToolInfo[]) {
  const groups = new Map<string, ToolInfo[]>()
  for (const tool of tools) groups.set(tool.source, [...(groups.get(tool.source) ?? []), tool])
  const all = [...groups].map(([source, group]) => ({ source, tools: group }))
  return all.sort((a, b) => Number(b.source === 'local') - Number(a.source === 'local'))
}
