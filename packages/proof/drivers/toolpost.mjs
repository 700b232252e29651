// Toolpost as a library.
import { ToolExecutor, ToolManager } from 'toolpost'
import { McpIntegration } from 'toolpost/mcp'
import { basics, mapServers, outcomeOf } from './shared.mjs'

export const packages = ['toolpost']
export const supports = [
  ...basics,
  ...['connectTimeout', 'progress', 'validate', 'repair', 'reconnect', 'listChanged'],
]

let mcp
let executor

export async function start({ servers, connectTimeoutMs }) {
  const tools = new ToolManager()
  // Progress extends a deadline only up to this.
  const entries = mapServers(servers, server => ({ ...server, maxTimeoutMs: 60_000, trust: true }))
  mcp = new McpIntegration({ servers: entries, connectTimeoutMs })
  mcp.start(tools)
  executor = new ToolExecutor(tools)
  await mcp.tried()
  const failed = mcp.status().find(({ state }) => state !== 'ready')
  if (failed) throw new Error(`${failed.error}\n${failed.stderr}`)
}

export async function call(tool, args, options) {
  return outcomeOfResult(await executor.run({ id: '1', name: tool, args }, options))
}

/** From a ToolResult: its result is a text, MCP's content, or any JSON. */
export function outcomeOfResult({ success, result, error }) {
  if (!success) return { ok: false, text: error }
  const { images } = outcomeOf({ content: Array.isArray(result) ? result.filter(Boolean) : [] })
  return { ok: true, text: typeof result === 'string' ? result : JSON.stringify(result), images }
}

export async function stop() {
  await mcp.close()
}
