export type {
  AiClient,
  Answer,
  AskOptions,
  CallNotice,
  ConversationMessage,
  ModelStatus,
  PlainMessage,
  StopReason,
} from './ai-client.ts'
export { AnthropicClient, type AnthropicClientOptions } from './anthropic/anthropic-client.ts'
export {
  type ChooseOptions,
  type ChosenClient,
  chooseClient,
  chooseClientOrOffline,
} from './choose-client.ts'
export { Conversations, type ConversationsOptions } from './conversations.ts'
export { withFastPath } from './fast-path.ts'
export { type FittedSchema, fitSchema } from './fitting/fit-schema.ts'
export type { FittingProvider, SchemaChange } from './fitting/rules.ts'
export { ModelClient, type ModelClientOptions } from './model-client.ts'
export { MODEL_ERROR_CODES, ModelError, type ModelErrorCode } from './model-error.ts'
export { OfflineClient, type OfflineClientOptions, type Understood } from './offline/offline-client.ts'
export type { GraphRule, SentenceGraph } from './offline/sentence-graph.ts'
export type { SentenceSettings } from './offline/spoken-words.ts'
export { OllamaClient, type OllamaClientOptions } from './ollama/ollama-client.ts'
export type { OllamaSettings } from './ollama/ollama-settings.ts'
export { type QwenTool, toQwenTools } from './ollama/to-qwen-tools.ts'
export type { ChatModel } from './provider.ts'
export type { Usage } from './usage.ts'
export { whenToolsReady } from './when-tools-ready.ts'
export { whyUnanswered } from './why-unanswered.ts'
