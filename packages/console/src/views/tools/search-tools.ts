import type { ServerStatus, ToolInfo } from 'toolpost/gateway'

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

/** What the page finds by itself, in the order of the gateway's ranking, and what only the gateway found. */
export function ranked(
  tools: readonly ToolInfo[],
  found: readonly ToolInfo[],
  names: readonly string[],
): ToolInfo[] {
  const byName = new Map(tools.map(tool => [tool.name, tool]))
  const first = names.flatMap(name => byName.get(name) ?? [])
  const taken = new Set(first)
  return [...first, ...found.filter(tool => !taken.has(tool))]
}

export interface ToolGroup {
  source: string
  tools: ToolInfo[]
  /** Of its server; local tools have none. */
  state?: ServerStatus['state'] | undefined
}

/** The local tools, then the servers in the order of the configuration, each with its tools by name. */
export function groupTools(tools: readonly ToolInfo[], servers: readonly ServerStatus[]): ToolGroup[] {
  const groups = new Map<string, ToolGroup>([['local', { source: 'local', tools: [] }]])
  for (const { name, state } of servers) groups.set(name, { source: name, tools: [], state })
  for (const tool of tools) {
    const group = groups.get(tool.source) ?? { source: tool.source, tools: [] }
    groups.set(tool.source, group)
    group.tools.push(tool)
  }
  for (const group of groups.values()) group.tools.sort((a, b) => compared(a.name, b.name))
  return [...groups.values()].filter(group => group.tools.length > 0 || group.state !== undefined)
}

/** The same everywhere, whatever the language of the browser. */
function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
