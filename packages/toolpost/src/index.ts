export { FAILURE_CODES, type FailureCode } from './call/failure-codes.ts'
export type { ToolCall } from './call/tool-call.ts'
export type { Diagnosis, KeptPart, ToolFailure, ToolResult, ToolSuccess } from './call/tool-result.ts'
export type { Interceptor, Next } from './executor/chain.ts'
export type { CallContext, DryRun } from './executor/context.ts'
export { ToolExecutor } from './executor/executor.ts'
export type { Failure } from './executor/failure.ts'
export type { Figures, Metrics, ToolFigures } from './executor/metrics.ts'
export type { CallEvent, CallObserver } from './executor/observers.ts'
export type { ExecutorOptions, RunOptions, TypedCall } from './executor/options.ts'
export { BigResults, type BigResultsOptions } from './interceptors/long-results.ts'
export { type Logger, silentLogger } from './logging/logger.ts'
export type { JsonSchema, StandardSchema } from './schema/json-schema.ts'
export type { Ask, Caller, Question, QuestionAnswer, Sample, ServerLogMessage } from './tools/caller.ts'
export { ToolDefinitionError } from './tools/check-tool.ts'
export {
  type DeclareOptions,
  declareTools,
  type Handler,
  type Implementation,
  type IsolatedHandler,
  type ToolDeclaration,
} from './tools/declared-tools.ts'
export { type LocalToolsOptions, localTools } from './tools/local-tools.ts'
export {
  defineTool,
  type InvokeOptions,
  type Progress,
  type ServerRequest,
  type Tool,
  type ToolDefinition,
  type ToolLike,
  type ToolTraits,
} from './tools/tool.ts'
export { ToolFailureError } from './tools/tool-failure-error.ts'
export { type McpToolsOptions, ToolManager } from './tools/tool-manager.ts'
export { type ContentBlock, ToolOutput } from './tools/tool-output.ts'
export { type Clock, systemClock, type Timer } from './util/clock.ts'
