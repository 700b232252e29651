export type { ReloadChanges } from './configuration.ts'
export type {
  AcceptedRun,
  CreateDurable,
  Durable,
  DurableChange,
  DurableOptions,
  DurableRunOptions,
  DurableStatus,
  DurableWorker,
  OfferedTool,
  PublishedTool,
  RefusedRun,
  Run,
  RunFilter,
  RunState,
  RunStep,
} from './durable.ts'
export type { ExampleHome } from './example-home.ts'
export type { ModelInfo } from './model-choice.ts'
export { type OpenProjectOptions, openProject } from './open-project.ts'
export type { Project, ProjectEvents, ProjectStatus } from './project.ts'
export type { StartVoice, VoiceGateway, VoiceInput, VoicePart } from './voice.ts'
