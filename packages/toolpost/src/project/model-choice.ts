import type { AiClient } from '../models/ai-client.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import { differs, type ProjectContext } from './configuration.ts'
import { isTraced } from './control.ts'
import type { ResolvedConfig } from './resolve.ts'

export interface ModelInfo {
  name: string
  why: string
  /** Whether speech-to-text is available; set only by the gateway's `GET /api/model`. */
  voice?: boolean
}

/** The client that answers, chosen when it is first needed, which is also when LangChain is loaded. */
export function modelChoice(context: ProjectContext, whenReady: () => Promise<unknown>) {
  const { executor, logger, configuration, options, tell } = context
  const { bigResults } = context.api
  const { wanted, isRequired, record } = options.model ?? {}
  /** By name; `undefined` is the usual one. */
  const clients = new Map<string | undefined, Promise<ChosenClient>>()
  let chosen: ModelInfo | undefined
  const load = async (name: string | undefined) => {
    const { chooseClient, chooseClientOrOffline } = await import('../models/index.ts')
    const choose = isRequired || name !== undefined ? chooseClient : chooseClientOrOffline
    const { config } = configuration
    const found = await choose({ model: name ?? wanted, config, executor, logger, record })
    if (name !== undefined) return found
    chosen = { name: found.name, why: found.why }
    tell('model', chosen)
    return found
  }
  const choose = (name?: string) => {
    const known = clients.get(name) ?? load(name)
    clients.set(name, known)
    if (name !== undefined) known.catch(() => clients.delete(name))
    return known
  }
  /** Questions wait for the client to be chosen, and for the tools they may need. */
  const asking = (name?: string): AiClient => ({
    ask: async (prompt, given) => {
      const { whenToolsReady } = await import('../models/index.ts')
      const { config } = configuration
      const { maxTools, pin } = config.models ?? {}
      const settings = { trace: isTraced(config), maxTools, pin, bigResults }
      return whenToolsReady(await choose(name), whenReady).ask(prompt, { ...settings, ...given })
    },
  })
  const client = asking()
  const list = async (): Promise<ModelInfo[]> => {
    const { listModels } = await import('../models/find-models.ts')
    await choose().catch(() => {})
    return listModels({ current: chosen, configured: wanted ?? configuration.config.model })
  }
  /** The client of one of the listed models; `undefined` for any other. Rejects with a ModelError if it is unavailable. */
  const clientOf = async (name: string): Promise<AiClient | undefined> => {
    if (name === chosen?.name) return client
    const isListed = clients.has(name) || (await list()).some(model => model.name === name)
    return isListed ? asking(name) : undefined
  }
  return {
    /** Of the project. `model`: the client that answers, chosen now if necessary. */
    api: { client, model: () => choose(), models: list, clientOf },
    chosen: () => chosen,
    apply(after: ResolvedConfig, before: ResolvedConfig): void {
      if (!differs(before, after, 'model', 'models', 'fastPath', 'sentences')) return
      const wasChosen = clients.has(undefined)
      clients.clear()
      chosen = undefined
      if (wasChosen) void choose().catch(() => {})
    },
  }
}
