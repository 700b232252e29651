export { safeValue } from '../logging/safe-value.ts'
export { stderrLogger } from '../logging/stderr-logger.ts'
export { fitsGlob } from '../util/text.ts'
export type { ReloadChanges } from './configuration.ts'
export {
  type AcceptedRun,
  type CreateDurable,
  type Durable,
  type DurableChange,
  type DurableOptions,
  type DurableRunOptions,
  type DurableStatus,
  type DurableWorker,
  type OfferedTool,
  type PublishedTool,
  type RefusedRun,
  RUN_STATES,
  type Run,
  type RunFilter,
  type RunState,
  type RunStep,
} from './durable.ts'
export type { ExampleHome } from './example-home.ts'
export type { ModelInfo } from './model-choice.ts'
export { type OpenProjectOptions, openProject } from './open-project.ts'
export type { Project, ProjectEvents, ProjectStatus } from './project.ts'
export type { StartVoice, VoiceGateway, VoiceInput, VoicePart } from './voice.ts'
