import type { ToolManager } from '../tools/tool-manager.ts'

/** The MCP server that the tool belongs to. */
export function serverOf(tools: ToolManager, name: string): string | undefined {
  const tool = tools.findTool(name)
  return tool && tools.originOf(tool)?.server
}
