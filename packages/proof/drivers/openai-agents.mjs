// OpenAI Agents: run with MCP servers, as in https://openai.github.io/openai-agents-js/guides/mcp
import * as agents from '@openai/agents'
import { basics, signalOf } from './shared.mjs'

agents.setTracingDisabled(true)

export const packages = ['@openai/agents', '@modelcontextprotocol/sdk']
export const supports = [...basics, 'connectTimeout']

let mcpServers = []

export async function start({ servers, connectTimeoutMs }) {
  mcpServers = Object.entries(servers).map(([name, server]) => {
    const options = {
      ...server,
      name,
      cacheToolsList: true,
      useStructuredContent: true,
      clientSessionTimeoutSeconds: connectTimeoutMs / 1_000,
      errorFunction: null,
    }
    return server.url ? new agents.MCPServerStreamableHttp(options) : new agents.MCPServerStdio(options)
  })
  for (const server of mcpServers) await server.connect()
}

export async function call(tool, args, options) {
  const instructions = 'Call the tool.'
  const agent = new agents.Agent({ name: 'proof', instructions, mcpServers, model: callingModel(tool, args) })
  const { newItems } = await new agents.Runner().run(agent, instructions, { signal: signalOf(options) })
  const { output } = newItems.find(({ type }) => type === 'tool_call_output_item')
  const blocks = (Array.isArray(output) ? output : [output]).map(each =>
    typeof each === 'string' ? { type: 'text', text: each } : each,
  )
  const images = blocks
    .filter(({ type }) => type === 'image')
    .map(({ data, mimeType, image }) => ({
      base64: data ?? image?.data,
      mimeType: mimeType ?? image?.mediaType,
    }))
  return { ok: true, text: blocks.map(block => block.text ?? JSON.stringify(block)).join('\n'), images }
}

function callingModel(name, args) {
  const called = {
    type: 'function_call',
    callId: '1',
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  }
  const content = [{ type: 'output_text', text: 'done' }]
  const done = { type: 'message', role: 'assistant', status: 'completed', content }
  const usage = new agents.Usage({ requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 })
  const outputs = [called]
  return { getResponse: async () => ({ usage, output: [outputs.pop() ?? done] }) }
}

export async function stop() {
  for (const server of mcpServers) await server.close()
}
