import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Environment } from '../runtime/environment.ts'
import { describeThrown } from '../runtime/quietly.ts'
import type { AiClient } from './ai-client.ts'
import { AnthropicClient, missingKey } from './anthropic/anthropic-client.ts'
import { withFastPath } from './fast-path.ts'
import { ModelError } from './model-error.ts'
import { OfflineClient } from './offline/offline-client.ts'
import type { SentenceSettings } from './offline/spoken-words.ts'
import { ollamaAddress } from './ollama/address.ts'
import { findOllamaModel } from './ollama/find-model.ts'
import { OllamaClient } from './ollama/ollama-client.ts'
import type { OllamaSettings } from './ollama/ollama-settings.ts'
import type { Writer } from './writing.ts'

interface ModelConfig {
  model?: string | undefined
  fastPath?: boolean | undefined
  sentences?: SentenceSettings | undefined
  models?: { ollama?: OllamaSettings | undefined } | undefined
}

export interface ChooseOptions {
  executor: ToolExecutor
  /** The model asked for: `ollama:qwen3:0.6b`, `anthropic:claude-…` or `offline`. */
  model?: string | undefined
  /** Used if no model was asked for. */
  config?: ModelConfig | undefined
  environment?: Environment | undefined
  logger?: Logger | undefined
  fetch?: typeof globalThis.fetch | undefined
}

export interface ChosenClient {
  client: AiClient
  /** `ollama:qwen3:0.6b` */
  name: string
  /** Why this one was chosen, for the user to read. */
  why: string
  /** Writes single messages; absent without a model. */
  writer?: Writer | undefined
  /** Answers what needs no model, if the client can. */
  sentences?: OfflineClient | undefined
}

interface Context extends Pick<ChooseOptions, 'executor' | 'fetch'> {
  environment: Environment
  logger: Logger
  ollama?: OllamaSettings | undefined
  sentences?: SentenceSettings | undefined
}

/**
 * The client to ask: the one asked for, else the configured one, else a reachable Ollama with a model that can use
 * tools, else Anthropic if there is a key, else sentence templates alone. Rejects with a ModelError if the one asked
 * for is unavailable.
 */
export async function chooseClient(options: ChooseOptions): Promise<ChosenClient> {
  const { executor, config = {}, environment = process.env, fetch } = options
  const logger = quietLogger(options.logger)
  const { ollama } = config.models ?? {}
  const { sentences: written } = config
  const context = { executor, environment, logger, fetch, ollama, sentences: written }
  const wanted = options.model || config.model
  const why = options.model ? 'requested with --model' : 'set in the configuration'
  const chosen = wanted ? named(wanted, why, context) : await found(context)
  if (!config.fastPath || chosen.sentences) return chosen
  const sentences = new OfflineClient(context)
  return { ...chosen, client: withFastPath(sentences, chosen.client, logger), sentences }
}

/** Like chooseClient, but falls back to sentence templates, saying why, if the one asked for is unavailable. */
export async function chooseClientOrOffline(options: ChooseOptions): Promise<ChosenClient> {
  try {
    return await chooseClient(options)
  } catch (error) {
    return { ...(await chooseClient({ ...options, model: 'offline' })), why: describeThrown(error) }
  }
}

function named(wanted: string, why: string, context: Context): ChosenClient {
  const [provider = '', ...rest] = wanted.split(':')
  const model = rest.join(':').trim() || undefined
  if (provider === 'offline') return offline(why, context)
  if (provider === 'ollama') return ollama({ ...context, model }, why)
  if (provider === 'anthropic') return anthropic({ ...context, model }, why)
  throw new ModelError(
    'unknown_provider',
    `Unknown model provider '${safeText(provider)}': use ollama:<model>, anthropic:<model> or offline`,
  )
}

/** No model was named: looks for one. */
async function found(context: Context): Promise<ChosenClient> {
  const { environment, fetch } = context
  const baseUrl = ollamaAddress(environment)
  const wanted = environment.OLLAMA_MODEL?.trim() || undefined
  const { model, problem } = await findOllamaModel({ baseUrl, wanted, fetch })
  if (model) return ollama({ ...context, model }, `Ollama at ${baseUrl} has it`)
  if (environment.ANTHROPIC_API_KEY?.trim())
    return anthropic(context, `${problem}, and ANTHROPIC_API_KEY is set`)
  return offline(`${problem}, and ANTHROPIC_API_KEY is not set`, context)
}

function ollama(options: Context & { model: string | undefined }, why: string): ChosenClient {
  const client = new OllamaClient({ ...options, ...options.ollama })
  return { client, writer: client, name: `ollama:${client.model}`, why }
}

function anthropic(options: Context & { model?: string | undefined }, why: string): ChosenClient {
  if (!options.environment.ANTHROPIC_API_KEY?.trim()) throw missingKey()
  const client = new AnthropicClient(options)
  return { client, writer: client, name: `anthropic:${client.model}`, why }
}

function offline(why: string, context: Context): ChosenClient {
  const client = new OfflineClient(context)
  return { client, name: 'offline', why, sentences: client }
}
