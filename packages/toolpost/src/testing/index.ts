export {
  type Cassette,
  type RecordedCall,
  type RecordedReply,
  readCassette,
} from '../interceptors/cassette-file.ts'
export { type AnthropicRequest, type FakeAnthropicOptions, fakeAnthropic } from './fake-anthropic.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type FakeOllamaOptions, fakeOllama, type OllamaRequest } from './fake-ollama.ts'
export { type FakeOpenAiOptions, fakeOpenAi, type OpenAiRequest } from './fake-openai.ts'
export { type LogRecord, type RecordingLogger, recordingLogger } from './recording-logger.ts'
export {
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedReply,
  type ScriptedTurn,
  scriptedModel,
} from './scripted-model.ts'
export type { FakeModelServer, FakeReply, RecordedRequest } from './scripted-model-server.ts'
