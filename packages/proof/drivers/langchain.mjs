// LangChain: MCP adapters and ToolNode, as in https://docs.langchain.com/oss/javascript/langchain/mcp
import { AIMessage } from '@langchain/core/messages'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { basics, mapServers, outcomeOf, signalOf } from './shared.mjs'

export const packages = ['@langchain/mcp-adapters', '@langchain/langgraph', '@langchain/core']
export const supports = [...basics, 'validate', 'reconnect']

let client
let node

export async function start({ servers }) {
  const again = { enabled: true, maxAttempts: 5, delayMs: 100 }
  const mcpServers = mapServers(servers, server =>
    server.url
      ? { transport: 'http', url: server.url, reconnect: again }
      : { transport: 'stdio', ...server, restart: again },
  )
  client = new MultiServerMCPClient({ mcpServers })
  node = new ToolNode(await client.getTools())
}

export async function call(tool, args, options) {
  const toolCall = { id: '1', name: tool, args, type: 'tool_call' }
  const message = new AIMessage({ content: '', tool_calls: [toolCall] })
  const { messages } = await node.invoke({ messages: [message] }, { signal: signalOf(options) })
  const [{ content, status, artifact }] = messages
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const images = blocks
    .filter(({ type }) => type === 'image_url')
    .map(({ image_url }) => /^data:(.*?);base64,(.*)$/.exec(image_url.url))
    .map(([, mimeType, base64]) => ({ mimeType, base64 }))
  const structuredContent = artifact?.find(({ type }) => type === 'mcp_structured_content')?.data
  return { ...outcomeOf({ content: blocks, structuredContent, isError: status === 'error' }), images }
}

export async function stop() {
  await client.close()
}
