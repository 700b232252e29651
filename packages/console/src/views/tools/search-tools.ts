import type { ServerStatus, ToolInfo } from 'toolpost/gateway'

/** The tools that contain every word of the query; matches by name come first. */
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

/** The page's own matches in the order of the gateway's ranking, plus those only the gateway found. */
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
  /** Its server's state; local tools have none. */
  state?: ServerStatus['state'] | undefined
}

/** Local tools first, then the servers in configuration order, each with its tools sorted by name. */
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

/** Independent of the browser's locale. */
function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
