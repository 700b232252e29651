/*
 * OpenTelemetry's semantic conventions for generative AI and MCP. Both are still in development, so the names are kept
 * here and nowhere else. https://github.com/open-telemetry/semantic-conventions-genai
 */

export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  toolDescription: 'gen_ai.tool.description',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  mcpMethod: 'mcp.method.name',
  mcpProtocolVersion: 'mcp.protocol.version',
  mcpSessionId: 'mcp.session.id',
  requestId: 'jsonrpc.request.id',
  transport: 'network.transport',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
} as const

export const OPERATION = { executeTool: 'execute_tool', chat: 'chat', invokeAgent: 'invoke_agent' } as const

/** A tool that runs here, and one that a server runs for us. */
export const TOOL_TYPE = { local: 'function', mcp: 'extension' } as const

export const METRIC = {
  toolDuration: {
    name: 'gen_ai.execute_tool.duration',
    description: 'Duration of tool executions',
    unit: 's',
    buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
  },
} as const

export const SERVICE = { name: 'service.name', version: 'service.version' } as const
