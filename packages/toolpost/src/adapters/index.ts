export { type AdapterOptions, ToolCallError } from './adapted-tools.ts'
export { type AiSdkTool, toAiSdkTools } from './ai-sdk.ts'
export { type MastraTool, toMastraTools } from './mastra.ts'
export { type OpenAiAgentsTool, toOpenAiAgentsTools } from './openai-agents.ts'
