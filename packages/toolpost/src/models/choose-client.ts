import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Environment } from '../util/platform.ts'
import { describeThrown } from '../util/quietly.ts'
import type { AiClient, OllamaSettings, OpenAiSettings, Writer } from './ai-client.ts'
import { AnthropicClient } from './anthropic-client.ts'
import { replayModel } from './cassette.ts'
import { withFastPath } from './fast-path.ts'
import { availableModels, findLocalServer } from './find-models.ts'
import { ModelClient } from './model-client.ts'
import { ModelError, missingKey } from './model-error.ts'
import { OfflineClient, type SentenceSettings } from './offline-client.ts'
import { OllamaClient } from './ollama-client.ts'
import { OpenAiClient } from './openai-client.ts'

interface ModelConfig {
  model?: string | undefined
  fastPath?: boolean | undefined
  sentences?: SentenceSettings | undefined
  models?: { ollama?: OllamaSettings | undefined; openai?: OpenAiSettings | undefined } | undefined
}

export interface ChooseOptions {
  executor: ToolExecutor
  /** The model asked for: `ollama:qwen3:0.6b`, `anthropic:claude-…`, `openai:gpt-…`, `replay:<cassette>` or `offline`. */
  model?: string | undefined
  config?: ModelConfig | undefined
  environment?: Environment | undefined
  logger?: Logger | undefined
  fetch?: typeof globalThis.fetch | undefined
  record?: string | undefined
}

export interface ChosenClient {
  client: AiClient
  name: string
  /** Why this one was chosen, for the user to read. */
  why: string
  writer?: Writer | undefined
  sentences?: OfflineClient | undefined
}

type Context = ChooseOptions & { environment: Environment; config: ModelConfig }

/**
 * The client to ask: the one asked for, else the configured one, else a reachable Ollama with a model that can use
 * tools, else an OpenAI-compatible server on this machine, else Anthropic or OpenAI if there is a key, else sentence
 * templates alone. Rejects with a ModelError if the one asked for is unavailable.
 */
export async function chooseClient(options: ChooseOptions): Promise<ChosenClient> {
  const { config = {}, environment = process.env } = options
  const context = { ...options, environment, config }
  const wanted = options.model || config.model
  const why = options.model ? 'requested with --model' : 'set in the configuration'
  const onOllama = environment.OLLAMA_MODEL?.trim() || undefined
  const search = { environment, fetch: options.fetch, wanted: onOllama, openAiUrl: openAiAddress(context) }
  const [best] = wanted ? [{ name: wanted, why }] : await availableModels(search)
  const chosen = await named(best?.name ?? 'offline', best?.why ?? '', context)
  if (!config.fastPath || chosen.sentences) return chosen
  const sentences = new OfflineClient({ ...context, sentences: config.sentences })
  return { ...chosen, client: withFastPath(sentences, chosen.client, context.logger), sentences }
}

/** Like chooseClient, but falls back to sentence templates, saying why, if the one asked for is unavailable. */
export function chooseClientOrOffline(options: ChooseOptions): Promise<ChosenClient> {
  return chooseClient(options).catch(async error => {
    return { ...(await chooseClient({ ...options, model: 'offline' })), why: describeThrown(error) }
  })
}

async function named(wanted: string, why: string, context: Context): Promise<ChosenClient> {
  const { executor, environment, logger, fetch, record, config } = context
  const shared = { executor, environment, logger, fetch, record }
  const [provider = '', ...rest] = wanted.split(':')
  const model = rest.join(':').trim() || undefined
  const chosen = (client: AiClient & Writer & { model: string }) => {
    return { client, writer: client, name: `${provider}:${client.model}`, why }
  }
  if (provider === 'ollama') return chosen(new OllamaClient({ ...shared, ...config.models?.ollama, model }))
  if (provider === 'anthropic') {
    if (!environment.ANTHROPIC_API_KEY?.trim()) throw missingKey('anthropic')
    return chosen(new AnthropicClient({ ...shared, model }))
  }
  if (provider === 'openai') {
    const baseUrl = openAiAddress(context)
    const { apiKey = environment.OPENAI_API_KEY?.trim() } = config.models?.openai ?? {}
    // Without an address, a server on this machine that has the model, else OpenAI.
    const local = baseUrl ? undefined : await findLocalServer({ wanted: model, fetch })
    if (!local && !baseUrl && !apiKey) throw missingKey('openai')
    // A key in the environment is for OpenAI, not for a server that happens to be here.
    const found = local ? { baseUrl: local.baseUrl, model: local.model, apiKey: '' } : { model }
    return chosen(new OpenAiClient({ ...shared, ...config.models?.openai, ...found }))
  }
  if (provider === 'offline') {
    const client = new OfflineClient({ executor, logger, sentences: config.sentences })
    return { client, name: 'offline', why, sentences: client }
  }
  if (provider === 'replay' && model) {
    const client = new ModelClient({ ...shared, model: replayModel(model) })
    return { client, writer: client, name: wanted, why: 'replies come from the cassette' }
  }
  const expected = 'ollama:<model>, anthropic:<model>, openai:<model> or offline'
  const problem = `Unknown model provider '${safeText(provider)}': use ${expected}`
  throw new ModelError('unknown_provider', problem)
}

function openAiAddress({ config, environment }: Context): string | undefined {
  return config.models?.openai?.baseUrl || environment.OPENAI_BASE_URL?.trim() || undefined
}
