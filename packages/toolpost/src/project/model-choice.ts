import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import type { BigResults } from '../tools/results/big-results.ts'
import { type Configuration, differs } from './configuration.ts'
import { isTraced } from './control.ts'
import type { Part } from './project-options.ts'
import type { ResolvedConfig } from './resolve.ts'

/** Which client answers the chat, and why. */
export interface ModelInfo {
  name: string
  why: string
  /** Whether speech-to-text is available; set only by the gateway's `GET /api/model`. */
  voice?: boolean
}

export interface ModelChoiceOptions {
  executor: ToolExecutor
  bigResults?: BigResults | undefined
  logger: Logger
  configuration: Pick<Configuration, 'config'>
  /** Resolves when all tools are registered, or their servers have failed. */
  whenReady(): Promise<unknown>
  onChosen(model: ModelInfo): void
  /** `ollama:…`, `anthropic:…` or `offline`, instead of what the configuration says. */
  wanted?: string | undefined
  /** Whether an unavailable model is an error, instead of a reason to fall back to sentences. */
  isRequired?: boolean | undefined
  record?: string | undefined
}

const LISTED_MS = 10_000

/** The client that answers, chosen when it is first needed, which is also when LangChain is loaded. */
export class ModelChoice implements Part {
  readonly #options: ModelChoiceOptions
  #choice: Promise<ChosenClient> | undefined
  #listed: { models: Promise<ModelInfo[]>; at: number } | undefined
  readonly #others = new Map<string, Promise<ChosenClient>>()
  chosen: ModelInfo | undefined

  constructor(options: ModelChoiceOptions) {
    this.#options = options
  }

  /** Questions wait for the client to be chosen, and for the tools they may need. */
  readonly client: AiClient = this.#clientOf(() => this.choose())

  #clientOf(choose: () => Promise<ChosenClient>): AiClient {
    return {
      ask: async (prompt, options) => {
        const { whenToolsReady } = await import('../models/index.ts')
        const { configuration, bigResults, whenReady } = this.#options
        const { maxTools, pin } = configuration.config.models ?? {}
        const settings = { trace: isTraced(configuration.config), maxTools, pin, bigResults }
        return whenToolsReady(await choose(), whenReady).ask(prompt, { ...settings, ...options })
      },
    }
  }

  list(): Promise<ModelInfo[]> {
    const now = performance.now()
    if (!this.#listed || now - this.#listed.at > LISTED_MS) this.#listed = { models: this.#list(), at: now }
    return this.#listed.models
  }

  async #list(): Promise<ModelInfo[]> {
    const { listModels } = await import('../models/find-models.ts')
    await this.choose().catch(() => {})
    const { wanted, configuration } = this.#options
    return listModels({ current: this.chosen, configured: wanted ?? configuration.config.model })
  }

  /** The client of one of the listed models; `undefined` for any other. Rejects with a ModelError if it is unavailable. */
  async clientOf(name: string): Promise<AiClient | undefined> {
    if (name === this.chosen?.name) return this.client
    if (!(await this.list()).some(model => model.name === name)) return undefined
    const known = this.#others.get(name) ?? this.#choose(name, true)
    this.#others.set(name, known)
    known.catch(() => this.#others.delete(name))
    return this.#clientOf(() => known)
  }

  /** Rejects with a ModelError if a required model is unavailable. */
  choose(): Promise<ChosenClient> {
    const { wanted, isRequired = false, onChosen } = this.#options
    this.#choice ??= this.#choose(wanted, isRequired).then(chosen => {
      this.chosen = { name: chosen.name, why: chosen.why }
      onChosen(this.chosen)
      return chosen
    })
    return this.#choice
  }

  async #choose(wanted: string | undefined, isRequired: boolean): Promise<ChosenClient> {
    const { executor, logger, configuration, record } = this.#options
    const { chooseClient, chooseClientOrOffline } = await import('../models/index.ts')
    const choose = isRequired ? chooseClient : chooseClientOrOffline
    return choose({ model: wanted, config: configuration.config, executor, logger, record })
  }

  /** Chooses again, immediately if a client was chosen before. */
  apply(after: ResolvedConfig, before: ResolvedConfig): void {
    if (!differs(before.config, after.config, ['model', 'models', 'fastPath', 'sentences'])) return
    const wasChosen = this.#choice !== undefined
    this.#choice = this.chosen = this.#listed = undefined
    this.#others.clear()
    if (wasChosen) void this.choose().catch(() => {})
  }
}
