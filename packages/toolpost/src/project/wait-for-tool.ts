import { setTimeout as delay } from 'node:timers/promises'
import type { McpIntegration, ServerStatus } from '../mcp/index.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { ToolFailureError } from '../tools/tool-failure-error.ts'
import type { ToolManager } from '../tools/tool-manager.ts'

/** How long to wait for an earlier server that has not failed yet, since it takes precedence for a name. */
const GRACE_FOR_EARLIER_MS = 500

interface Wait {
  tools: ToolManager
  mcp: McpIntegration
  limitMs: number | undefined
}

/**
 * Waits until a tool of this name appears or no server is still starting, for at most `limitMs`; resolves to whether it
 * appeared. If servers are still starting by then, a placeholder tool says so.
 */
export async function waitForTool(name: string, wait: Wait): Promise<boolean> {
  if (await appeared(name, wait)) return true
  standIn(name, wait, () => true)
  return false
}

/** Like `waitForTool`, until that server is ready or has failed. */
export async function waitForServer(server: string, name: string, wait: Wait): Promise<void> {
  await inTime([wait.mcp.ready(server)], wait.limitMs)
  standIn(name, wait, status => status.name === server)
}

function standIn(
  name: string,
  { tools, mcp, limitMs = 0 }: Wait,
  couldHaveIt: (server: ServerStatus) => boolean,
): void {
  const starting = mcp.status().filter(server => server.state === 'starting' && couldHaveIt(server))
  if (starting.length > 0) tools.addCustomTool(pendingTool(name, limitMs, starting))
}

async function appeared(name: string, { tools, mcp, limitMs }: Wait): Promise<boolean> {
  await inTime([mcp.ready(), appearanceOf(name, tools)], limitMs)
  const found = tools.findTool(name)
  const order = found && tools.originOf(found)?.order
  const earlier = mcp.status().slice(0, order ?? 0)
  await inTime([Promise.all(earlier.map(server => mcp.tried(server.name)))], GRACE_FOR_EARLIER_MS)
  return tools.findTool(name) !== undefined
}

function appearanceOf(name: string, tools: ToolManager): Promise<void> {
  return new Promise(resolve => {
    const stop = tools.onChange(() => {
      if (!tools.findTool(name)) return
      stop()
      resolve()
    })
  })
}

/** Resolves with the first of `events`, or after `limitMs`. */
export async function inTime(
  events: readonly Promise<unknown>[],
  limitMs: number | undefined,
): Promise<void> {
  const limit = limitMs === undefined ? [] : [delay(limitMs, undefined, { ref: false })]
  await Promise.race([...events, ...limit])
}

/** A placeholder for a tool whose server was not ready within the limit: calling it fails with the reason. */
function pendingTool(name: string, waitedMs: number, starting: readonly ServerStatus[]): Tool {
  const causes = starting.map(server => `Server '${server.name}' is still starting`)
  return defineTool({
    name,
    description: 'A tool whose server is still starting',
    schema: { type: 'object' },
    handler: () => {
      throw new ToolFailureError('timeout', `Tool '${name}' timed out after ${waitedMs} ms`, {
        diagnosis: { causes },
      })
    },
  })
}
