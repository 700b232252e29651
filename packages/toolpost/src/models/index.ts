export type { GraphRule, SentenceGraph } from 'toolpost-sentences'
export type {
  AiClient,
  Answer,
  AskOptions,
  CallNotice,
  ConversationMessage,
  ModelStatus,
  OllamaSettings,
  OpenAiSettings,
  PlainMessage,
  StopReason,
  Usage,
} from './ai-client.ts'
export { whyUnanswered } from './ai-client.ts'
export { AnthropicClient, type AnthropicClientOptions } from './anthropic-client.ts'
export { replayModel } from './cassette.ts'
export {
  type ChooseOptions,
  type ChosenClient,
  chooseClient,
  chooseClientOrOffline,
} from './choose-client.ts'
export { Conversations, type ConversationsOptions } from './conversation.ts'
export { whenToolsReady, withFastPath } from './fast-path.ts'
export {
  type FittedSchema,
  type FittingProvider,
  fitSchema,
  type QwenTool,
  toQwenTools,
} from './fit-schema.ts'
export { type ChatModel, ModelClient, type ModelClientOptions } from './model-client.ts'
export { MODEL_ERROR_CODES, ModelError, type ModelErrorCode } from './model-error.ts'
export {
  OfflineClient,
  type OfflineClientOptions,
  type SentenceSettings,
  type Understood,
} from './offline-client.ts'
export { OllamaClient, type OllamaClientOptions } from './ollama-client.ts'
export { OpenAiClient, type OpenAiClientOptions } from './openai-client.ts'
