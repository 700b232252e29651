// Mastra: MCPClient and its tools, as in https://mastra.ai/reference/tools/mcp-client
import { MCPClient } from '@mastra/mcp'
import { basics, mapServers, outcomeOf, signalOf } from './shared.mjs'

export const packages = ['@mastra/mcp', '@mastra/core']
export const supports = [...basics, 'connectTimeout', 'validate', 'reconnect']

let client
let tools

export async function start({ servers, connectTimeoutMs }) {
  const entries = mapServers(servers, server => (server.url ? { url: new URL(server.url) } : server))
  client = new MCPClient({ id: 'proof', servers: entries, timeout: connectTimeoutMs })
  const { toolsets, errors } = await client.listToolsetsWithErrors()
  const [problem] = Object.values(errors)
  if (problem) throw new Error(problem)
  tools = Object.assign({}, ...Object.values(toolsets))
}

export async function call(tool, args, options) {
  if (!tools[tool]) return { ok: false, text: `There is no tool ${tool}` }
  const result = await tools[tool].execute(args, { abortSignal: signalOf(options) })
  // A validation error is returned, not thrown.
  if (result?.error === true) return { ok: false, text: result.message }
  if (result?.content) return outcomeOf(result)
  return { ok: true, text: typeof result === 'string' ? result : (JSON.stringify(result) ?? '') }
}

export async function stop() {
  await client.disconnect()
}
