// Vercel AI SDK: generateText with MCP tools, as in https://ai-sdk.dev/docs/ai-sdk-core/mcp-tools
import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio'
import { generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { basics, outcomeOf } from './shared.mjs'

export const packages = ['ai', '@ai-sdk/mcp']
export const supports = [...basics, 'connectTimeout']

const clients = []
let tools = {}

export async function start({ servers, connectTimeoutMs }) {
  for (const server of Object.values(servers)) {
    const transport = server.url ? { type: 'http', url: server.url } : new StdioTransport(server)
    const client = await createMCPClient({ transport, initializationOptions: { timeout: connectTimeoutMs } })
    clients.push(client)
    tools = { ...tools, ...(await client.tools()) }
  }
}

export async function call(tool, args, { signal, timeoutMs }) {
  const { content } = await generateText({
    model: callingModel(tool, args),
    prompt: 'Call the tool.',
    tools,
    abortSignal: signal,
    ...(timeoutMs !== undefined && { timeout: { toolMs: timeoutMs } }),
  })
  const failed = content.find(({ type }) => type === 'tool-error')
  if (failed) return { ok: false, text: failed.error?.message ?? String(failed.error) }
  return outcomeOf(content.find(({ type }) => type === 'tool-result').output)
}

function callingModel(toolName, args) {
  return new MockLanguageModelV4({
    doGenerate: async () => ({
      content: [{ type: 'tool-call', toolCallId: '1', toolName, input: JSON.stringify(args) }],
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
      warnings: [],
    }),
  })
}

export async function stop() {
  await Promise.all(clients.map(client => client.close()))
}
