export type { BreakerStatus } from '../call/breaker-status.ts'
export type { Diagnosis, ToolFailure, ToolResult, ToolSuccess } from '../call/tool-result.ts'
export type { CallPage } from '../history/query.ts'
export type { Approval } from '../interceptors/index.ts'
export type { ServerState, ServerStatus } from '../mcp/server-status.ts'
export type { ClientList, ClientOptions } from '../project/config.ts'
export type { Run, RunState, RunStep } from '../project/durable.ts'
export type { ModelInfo } from '../project/model-choice.ts'
export type { JsonSchema } from '../schema/json-schema.ts'
export type { Progress } from '../tools/tool.ts'
export type {
  AnswerPart,
  CallRecord,
  ChatCall,
  ChatEnd,
  ChatEvents,
  ChatTurn,
  ConversationInfo,
  ConversationRecord,
  GatewayEvents,
  OpenQuestion,
  ToolInfo,
} from './api-types.ts'
export type { GatewayOptions, GatewaySource } from './context.ts'
export { createGateway, type Gateway, GatewayError } from './gateway.ts'
export { guardStdout, type StdioOptions, serveTools } from './mcp-server/stdio.ts'
export { type ServedGateway, type ServeOptions, serveGateway } from './serve-gateway.ts'
