import type { Interceptor } from '../executor/chain.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { HistoryStatus } from '../history/history.ts'
import type { Approval } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import type { ServerStatus } from '../mcp/index.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolpostConfig } from './config.ts'
import type { Configuration } from './configuration.ts'
import type { DurableWishes } from './durable/project-durable.ts'
import type { DurableChange, DurableStatus } from './durable.ts'
import type { ModelChoiceOptions, ModelInfo } from './model-choice.ts'
import type { Project } from './project.ts'
import type { ResolvedConfig } from './resolve.ts'
import type { TimerEvent } from './timers.ts'
import type { StartVoice, VoicePart } from './voice.ts'

export interface ProjectOptions {
  /** Creates the logger for a configuration, which may set the level; no logging if omitted. */
  logger?: ((config: ToolpostConfig) => Logger) | undefined
  /** Receives what a person should know, such as why a server failed. */
  say?: ((text: string) => void) | undefined
  /** The caller reads every status itself, so server problems are not reported as well. */
  looksForItself?: boolean | undefined
  /** A server that fails is not retried, whatever the configuration says. */
  triesOnce?: boolean | undefined
  read(): Promise<ResolvedConfig>
  /** The model to use instead of the configured one; if required and unavailable, it is an error. */
  model?: Pick<ModelChoiceOptions, 'wanted' | 'isRequired' | 'record'> | undefined
  /** Interceptors inside those of the configuration: only calls that may run reach them. */
  inside?: readonly Interceptor[] | undefined
  voice?: StartVoice<Project> | undefined
  /** What this process does with durable calls, if they are configured. */
  durable?: DurableWishes | undefined
  /** The program of the example home, if it is not the usual one. */
  homeProgram?: string | undefined
}

export interface ProjectEvents {
  /** A server's state, error, tools or next attempt changed. */
  server: ServerStatus
  tools: readonly Tool[]
  model: ModelInfo
  /** A part of the voice gateway was added, removed or changed. */
  voice: readonly VoicePart[]
  /** Calls started or stopped waiting for a person. */
  approval: readonly Approval[]
  timer: TimerEvent
  durable: DurableChange
}

/** A snapshot of the whole project; what is `undefined` is off. */
export interface ProjectStatus {
  servers: ServerStatus[]
  /** Why there are no servers, if they could not be started. */
  problem: string | undefined
  model: ModelInfo | undefined
  voice: VoicePart[]
  history?: HistoryStatus | undefined
  durable?: DurableStatus | undefined
}

/** What the parts of a project share. */
export interface ProjectContext {
  configuration: Configuration
  executor: ToolExecutor
  logger: Logger
  /** Tells a person. Never throws. */
  say(text: string): void
  /** The same, unless the caller looks at every status itself. */
  report(text: string): void
  /** Aborted when the project is closed: nothing starts afterwards. */
  closing: AbortSignal
}

/** A running part of a project: it follows the configuration, and closes with the project. */
export interface Part {
  /**
   * Builds what a new configuration needs here; returns a function that puts it in the place of the old, which must not fail.
   * Throws a ConfigError if it cannot be built: then nothing changes anywhere.
   */
  prepare?(after: ResolvedConfig, before: ResolvedConfig): (() => void) | undefined
  /** Brings what was started in line with the new configuration, once that holds. Leaves alone what has not changed. */
  apply?(after: ResolvedConfig, before: ResolvedConfig): void | Promise<void>
  /** Ends what was started, including what is still starting. */
  close?(options?: CloseOptions): void | Promise<void>
}

export interface CloseOptions {
  /** How long work in progress may take to finish. */
  drainMs?: number
}
