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
export type { ChooseOptions, ChosenClient } from './choose-client.ts'
export { chooseClient, chooseClientOrOffline } from './choose-client.ts'
export { Conversations, type ConversationsOptions } from './conversation.ts'
export { whenToolsReady, withFastPath } from './fast-path.ts'
export type { FittedSchema, FittingProvider, QwenTool } from './fit-schema.ts'
export { fitSchema, toQwenTools } from './fit-schema.ts'
export { type ChatModel, ModelClient, type ModelClientOptions } from './model-client.ts'
export { MODEL_ERROR_CODES, ModelError, type ModelErrorCode } from './model-error.ts'
export type { OfflineClientOptions, SentenceSettings, Understood } from './offline-client.ts'
export { OfflineClient } from './offline-client.ts'
export { OllamaClient, type OllamaClientOptions } from './ollama-client.ts'
export { OpenAiClient, type OpenAiClientOptions } from './openai-client.ts'
