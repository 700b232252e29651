export type {
  AnswerPart,
  ApiError,
  Approval,
  BreakerStatus,
  CallPage,
  CallRecord,
  ChatCall,
  ChatEnd,
  ChatEvents,
  ChatTurn,
  ConversationInfo,
  ConversationRecord,
  Diagnosis,
  GatewayEvents,
  JsonSchema,
  ModelInfo,
  OpenQuestion,
  Progress,
  Run,
  RunState,
  RunStep,
  ServerState,
  ServerStatus,
  ToolFailure,
  ToolInfo,
  ToolResult,
  ToolSuccess,
  Transcription,
} from './api-types.ts'
export type { ClientList, ClientOptions } from './clients.ts'
export type { GatewayOptions, GatewaySource } from './context.ts'
export { createGateway, type Gateway, GatewayError } from './gateway.ts'
export { guardStdout, type StdioOptions, serveTools } from './mcp-server/stdio.ts'
export { type ServedGateway, type ServeOptions, serveGateway } from './serve-gateway.ts'
