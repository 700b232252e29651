import type { BigResults } from '../interceptors/long-results.ts'
import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import type { Part, ProjectContext } from './configuration.ts'
import { differs } from './configuration.ts'
import { isTraced } from './control.ts'
import type { ResolvedConfig } from './resolve.ts'

export interface ModelInfo {
  name: string
  why: string
  /** Whether speech-to-text is available; set only by the gateway's `GET /api/model`. */
  voice?: boolean
}

export interface ModelChoiceOptions extends Pick<ProjectContext, 'executor' | 'logger'> {
  configuration: Pick<ProjectContext['configuration'], 'config'>
  bigResults?: BigResults | undefined
  /** Resolves when all tools are registered, or their servers have failed. */
  whenReady(): Promise<unknown>
  onChosen(model: ModelInfo): void
  /** `ollama:…`, `anthropic:…` or `offline`, instead of what the configuration says. */
  wanted?: string | undefined
  /** Whether an unavailable model is an error, instead of a reason to fall back to sentences. */
  isRequired?: boolean | undefined
  record?: string | undefined
}

/** The client that answers, chosen when it is first needed, which is also when LangChain is loaded. */
export class ModelChoice implements Part {
  readonly #options: ModelChoiceOptions
  /** By name; `undefined` is the usual one. */
  readonly #clients = new Map<string | undefined, Promise<ChosenClient>>()
  chosen: ModelInfo | undefined

  constructor(options: ModelChoiceOptions) {
    this.#options = options
  }

  /** Questions wait for the client to be chosen, and for the tools they may need. */
  readonly client: AiClient = this.#asking(() => this.choose())

  #asking(choose: () => Promise<ChosenClient>): AiClient {
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

  async list(): Promise<ModelInfo[]> {
    const { listModels } = await import('../models/find-models.ts')
    await this.choose().catch(() => {})
    const { wanted, configuration } = this.#options
    return listModels({ current: this.chosen, configured: wanted ?? configuration.config.model })
  }

  /** The client of one of the listed models; `undefined` for any other. Rejects with a ModelError if it is unavailable. */
  async clientOf(name: string): Promise<AiClient | undefined> {
    if (name === this.chosen?.name) return this.client
    const isListed = this.#clients.has(name) || (await this.list()).some(model => model.name === name)
    return isListed ? this.#asking(() => this.choose(name)) : undefined
  }

  choose(name?: string): Promise<ChosenClient> {
    const known = this.#clients.get(name) ?? this.#choose(name)
    this.#clients.set(name, known)
    if (name !== undefined) known.catch(() => this.#clients.delete(name))
    return known
  }

  async #choose(name: string | undefined): Promise<ChosenClient> {
    const { executor, logger, configuration, record, wanted, isRequired, onChosen } = this.#options
    const { chooseClient, chooseClientOrOffline } = await import('../models/index.ts')
    const choose = isRequired || name !== undefined ? chooseClient : chooseClientOrOffline
    const { config } = configuration
    const chosen = await choose({ model: name ?? wanted, config, executor, logger, record })
    if (name !== undefined) return chosen
    this.chosen = { name: chosen.name, why: chosen.why }
    onChosen(this.chosen)
    return chosen
  }

  apply(after: ResolvedConfig, before: ResolvedConfig): void {
    if (!differs(before, after, 'model', 'models', 'fastPath', 'sentences')) return
    const wasChosen = this.#clients.has(undefined)
    this.#clients.clear()
    this.chosen = undefined
    if (wasChosen) void this.choose().catch(() => {})
  }
}
