import type { ToolpostConfig } from '../config/config.ts'
import type { ConfigInput } from '../config/inputs.ts'
import type { HistoryStatus } from '../history/history-options.ts'
import type { Approval } from '../interceptors/index.ts'
import type { Logger } from '../logging/logger.ts'
import type { ServerStatus } from '../mcp/index.ts'
import type { Tool } from '../tools/tool.ts'
import type { DurableWishes } from './durable/project-durable.ts'
import type { DurableChange, DurableStatus } from './durable.ts'
import type { ModelInfo } from './model-choice.ts'
import type { Description } from './open-project.ts'
import type { Project } from './project.ts'
import type { StartVoice, VoicePart } from './voice.ts'

export interface ProjectOptions {
  /** The logger, for a configuration that may say how much is logged. */
  logger(config: ToolpostConfig): Logger
  /** Told what a person should know, such as why a server failed. */
  say(text: string): void
  /** Whoever opens the project reads every status itself, so server problems are not reported as well. */
  looksForItself?: boolean | undefined
  /** A server that fails is not tried a second time, whatever the configuration says. */
  triesOnce?: boolean | undefined
  /** Reads the configuration again, for `reload`. */
  read(): Promise<Description>
  /** Asks a person for what a server wants to know; says whether there is an answer, for the next `read`. */
  answer?(input: ConfigInput): Promise<boolean>
  /** The model to use instead of the configured one; a required one that is unavailable is an error. */
  model?: { wanted?: string | undefined; isRequired?: boolean | undefined } | undefined
  /** Starts the voice gateway; left out, there is none. */
  voice?: StartVoice<Project> | undefined
  /** What this process does with durable calls, if they are configured. */
  durable?: DurableWishes | undefined
  /** The program of the example home, if it is not the usual one. */
  homeProgram?: string | undefined
}

export interface ProjectEvents {
  /** A server's state, error, tools or next attempt changed. */
  server: ServerStatus
  /** Tools were added, replaced or removed. */
  tools: readonly Tool[]
  /** The client that answers was chosen. */
  model: ModelInfo
  /** A part of the voice gateway came, went or changed. */
  voice: readonly VoicePart[]
  /** Calls began or ceased to wait for a person. */
  approval: readonly Approval[]
  /** A durable run, the workers, or the database changed. */
  durable: DurableChange
}

/** How everything is at one moment. */
export interface ProjectStatus {
  /** In the order of the configuration. */
  servers: ServerStatus[]
  /** Why there are no servers, if they could not be started. */
  problem: string | undefined
  model: ModelInfo | undefined
  voice: VoicePart[]
  /** Absent if calls are not kept. */
  history?: HistoryStatus | undefined
  /** Absent if there are no durable calls. */
  durable?: DurableStatus | undefined
}
