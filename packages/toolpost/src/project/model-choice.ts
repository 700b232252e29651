import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import { differs, type Part, type ProjectContext } from './configuration.ts'
import { isTraced } from './control.ts'
import type { ResolvedConfig } from './resolve.ts'

export interface ModelInfo {
  name: string
  why: string
  /** Whether speech-to-text is available; set only by the gateway's `GET /api/model`. */
  voice?: boolean
}

/** The client that answers, chosen when it is first needed, which is also when LangChain is loaded. */
export class ModelChoice implements Part {
  readonly #context: ProjectContext
  readonly #whenReady: () => Promise<unknown>
  /** By name; `undefined` is the usual one. */
  readonly #clients = new Map<string | undefined, Promise<ChosenClient>>()
  chosen: ModelInfo | undefined

  /** `whenReady` resolves when all tools are registered, or their servers have failed. */
  constructor(context: ProjectContext, whenReady: () => Promise<unknown>) {
    this.#context = context
    this.#whenReady = whenReady
  }

  /** Questions wait for the client to be chosen, and for the tools they may need. */
  readonly client: AiClient = this.#asking(() => this.choose())

  #asking(choose: () => Promise<ChosenClient>): AiClient {
    return {
      ask: async (prompt, options) => {
        const { whenToolsReady } = await import('../models/index.ts')
        const { configuration, bigResults } = this.#context
        const { maxTools, pin } = configuration.config.models ?? {}
        const settings = { trace: isTraced(configuration.config), maxTools, pin, bigResults }
        return whenToolsReady(await choose(), this.#whenReady).ask(prompt, { ...settings, ...options })
      },
    }
  }

  async list(): Promise<ModelInfo[]> {
    const { listModels } = await import('../models/find-models.ts')
    await this.choose().catch(() => {})
    const { options, configuration } = this.#context
    return listModels({
      current: this.chosen,
      configured: options.model?.wanted ?? configuration.config.model,
    })
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
    const { executor, logger, configuration, options, tell } = this.#context
    const { wanted, isRequired, record } = options.model ?? {}
    const { chooseClient, chooseClientOrOffline } = await import('../models/index.ts')
    const choose = isRequired || name !== undefined ? chooseClient : chooseClientOrOffline
    const { config } = configuration
    const chosen = await choose({ model: name ?? wanted, config, executor, logger, record })
    if (name !== undefined) return chosen
    this.chosen = { name: chosen.name, why: chosen.why }
    tell('model', this.chosen)
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
