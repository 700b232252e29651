import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Environment } from '../util/platform.ts'
import { describeThrown } from '../util/quietly.ts'
import type { AiClient, OllamaSettings, OpenAiSettings, Writer } from './ai-client.ts'
import { AnthropicClient, missingAnthropicKey } from './anthropic-client.ts'
import { replayModel } from './cassette.ts'
import { withFastPath } from './fast-path.ts'
import { availableModels, findLocalServer } from './find-models.ts'
import { ModelClient } from './model-client.ts'
import { ModelError } from './model-error.ts'
import { OfflineClient, type SentenceSettings } from './offline-client.ts'
import { OllamaClient } from './ollama-client.ts'
import { missingOpenAiKey, OpenAiClient } from './openai-client.ts'

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
  const context = { ...options, environment, config, logger: quietLogger(options.logger) }
  const wanted = options.model || config.model
  const why = options.model ? 'requested with --model' : 'set in the configuration'
  const chosen = await (wanted ? named(wanted, why, context) : found(context))
  if (!config.fastPath || chosen.sentences) return chosen
  const sentences = new OfflineClient({ ...context, sentences: config.sentences })
  return { ...chosen, client: withFastPath(sentences, chosen.client, context.logger), sentences }
}

/** Like chooseClient, but falls back to sentence templates, saying why, if the one asked for is unavailable. */
export async function chooseClientOrOffline(options: ChooseOptions): Promise<ChosenClient> {
  try {
    return await chooseClient(options)
  } catch (error) {
    return { ...(await chooseClient({ ...options, model: 'offline' })), why: describeThrown(error) }
  }
}

async function named(wanted: string, why: string, context: Context): Promise<ChosenClient> {
  const [provider = '', ...rest] = wanted.split(':')
  const model = rest.join(':').trim() || undefined
  const make = PROVIDERS[provider]
  if (make && (provider !== 'replay' || model)) return make(why, context, model)
  const expected = 'ollama:<model>, anthropic:<model>, openai:<model> or offline'
  const problem = `Unknown model provider '${safeText(provider)}': use ${expected}`
  throw new ModelError('unknown_provider', problem)
}

type Make = (why: string, context: Context, model?: string) => ChosenClient | Promise<ChosenClient>

const PROVIDERS: Readonly<Record<string, Make>> = {
  ollama(why, context, model) {
    const client = new OllamaClient({ ...shared(context), ...context.config.models?.ollama, model })
    return { client, writer: client, name: `ollama:${client.model}`, why }
  },
  anthropic(why, context, model) {
    if (!context.environment.ANTHROPIC_API_KEY?.trim()) throw missingAnthropicKey()
    const client = new AnthropicClient({ ...shared(context), model })
    return { client, writer: client, name: `anthropic:${client.model}`, why }
  },
  /** Without an address, a server on this machine that has the model, else OpenAI. */
  async openai(why, context, model) {
    const { environment, fetch, config } = context
    const baseUrl = openAiAddress(context)
    const local = baseUrl ? undefined : await findLocalServer({ wanted: model, fetch })
    const { apiKey = environment.OPENAI_API_KEY?.trim() } = config.models?.openai ?? {}
    if (!local && !baseUrl && !apiKey) throw missingOpenAiKey()
    // A key in the environment is for OpenAI, not for a server that happens to be here.
    const found = local ? { baseUrl: local.baseUrl, model: local.model, apiKey: '' } : { model }
    const client = new OpenAiClient({ ...shared(context), ...config.models?.openai, ...found })
    return { client, writer: client, name: `openai:${client.model}`, why }
  },
  offline(why, context) {
    const client = new OfflineClient({ ...context, sentences: context.config.sentences })
    return { client, name: 'offline', why, sentences: client }
  },
  replay(_, context, file = '') {
    const client = new ModelClient({ ...shared(context), model: replayModel(file) })
    return { client, writer: client, name: `replay:${file}`, why: 'replies come from the cassette' }
  },
}

function shared({ executor, environment, logger, fetch, record }: Context) {
  return { executor, environment, logger, fetch, record }
}

function openAiAddress({ config, environment }: Context): string | undefined {
  return config.models?.openai?.baseUrl || environment.OPENAI_BASE_URL?.trim() || undefined
}

/** No model was named: looks for one. */
async function found(context: Context): Promise<ChosenClient> {
  const { environment, fetch } = context
  const wanted = environment.OLLAMA_MODEL?.trim() || undefined
  const [best] = await availableModels({ environment, fetch, wanted, openAiUrl: openAiAddress(context) })
  return named(best?.name ?? 'offline', best?.why ?? '', context)
}
