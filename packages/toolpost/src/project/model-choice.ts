import type { ToolpostConfig } from '../config/config.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { Logger } from '../logging/logger.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import { isTraced } from './control.ts'

/** Which client answers the chat, and why. */
export interface ModelInfo {
  name: string
  why: string
}

export interface ModelChoiceOptions {
  executor: ToolExecutor
  bigResults?: BigResults | undefined
  logger: Logger
  config(): ToolpostConfig
  /** Resolves when every tool that is still to come is there, or has failed. */
  whenReady(): Promise<unknown>
  onChosen(model: ModelInfo): void
  /** `ollama:…`, `anthropic:…` or `offline`, instead of what the configuration says. */
  wanted?: string | undefined
  /** A model that is unavailable is an error, instead of a reason to use sentences alone. */
  isRequired?: boolean | undefined
}

/** The client that answers: chosen when it is first needed, which is also when LangChain is loaded. */
export class ModelChoice {
  readonly #options: ModelChoiceOptions
  #choice: Promise<ChosenClient> | undefined
  #chosen: ModelInfo | undefined

  constructor(options: ModelChoiceOptions) {
    this.#options = options
  }

  /** Questions wait until the client is chosen, and for the tools that they may need. */
  readonly client: AiClient = {
    ask: async (prompt, options) => {
      const chosen = await this.choose()
      const { whenToolsReady } = await import('../models/index.ts')
      const { config, bigResults } = this.#options
      const { maxTools, pin } = config().models ?? {}
      const settings = { trace: isTraced(config()), maxTools, pin, bigResults }
      return whenToolsReady(chosen, () => this.#options.whenReady()).ask(prompt, { ...settings, ...options })
    },
  }

  /** The client that was chosen, once it is. */
  get chosen(): ModelInfo | undefined {
    return this.#chosen
  }

  /** Rejects with a ModelError if a required model is unavailable. */
  choose(): Promise<ChosenClient> {
    this.#choice ??= this.#choose()
    return this.#choice
  }

  /** Chooses anew, now if a client was chosen before. */
  renew(): void {
    const wasChosen = this.#choice !== undefined
    this.#choice = undefined
    this.#chosen = undefined
    if (wasChosen) void this.choose().catch(() => {})
  }

  async #choose(): Promise<ChosenClient> {
    const { executor, logger, wanted, isRequired, config, onChosen } = this.#options
    const { chooseClient, chooseClientOrOffline } = await import('../models/index.ts')
    const choose = isRequired ? chooseClient : chooseClientOrOffline
    const chosen = await choose({ model: wanted, config: config(), executor, logger })
    this.#chosen = { name: chosen.name, why: chosen.why }
    onChosen(this.#chosen)
    return chosen
  }
}
