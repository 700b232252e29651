import type { ChatAnthropicInput } from '@langchain/anthropic'
import { silentLogger } from '../../logging/logger.ts'
import { removeFromLogs, safeText } from '../../logging/safe-value.ts'
import type { Tool } from '../../tools/tool.ts'
import { boundedFetch } from '../bounded-body.ts'
import type { Environment } from '../environment.ts'
import { explainFailure, type ProviderWords } from '../explain-failure.ts'
import { type ClientOptions, ProviderClient } from '../model-client.ts'
import { ModelError } from '../model-error.ts'
import type { OpenModel, Provider } from '../provider.ts'
import { anthropicTools } from './anthropic-tools.ts'
import { withErrorMarks } from './error-results.ts'
import { wholeStream } from './whole-stream.ts'

const DEFAULT_ANTHROPIC_MODEL = 'claude-haiku-4-5'
const DEFAULT_ADDRESS = 'https://api.anthropic.com'

export interface AnthropicClientOptions extends ClientOptions {
  /** `ANTHROPIC_MODEL` if left out, else `claude-haiku-4-5`. */
  model?: string | undefined
  /** `ANTHROPIC_API_KEY` if left out. */
  apiKey?: string | undefined
  /** `ANTHROPIC_BASE_URL` if left out. */
  baseUrl?: string | undefined
  /** More for ChatAnthropic, such as `maxTokens`, `temperature` or `thinking`. */
  settings?: Partial<Omit<ChatAnthropicInput, 'model' | 'apiKey' | 'anthropicApiKey'>> | undefined
  environment?: Environment | undefined
}

/** A client on a model of Anthropic. LangChain is loaded with the first question. */
export class AnthropicClient extends ProviderClient {
  readonly model: string
  readonly baseUrl: string

  constructor(options: AnthropicClientOptions) {
    const { environment = process.env } = options
    const model = options.model ?? (environment.ANTHROPIC_MODEL?.trim() || DEFAULT_ANTHROPIC_MODEL)
    const baseUrl = options.baseUrl ?? (environment.ANTHROPIC_BASE_URL?.trim() || DEFAULT_ADDRESS)
    const apiKey = options.apiKey ?? environment.ANTHROPIC_API_KEY?.trim()
    // Whoever echoes the key, in an error or in a result, must not bring it into a log.
    if (apiKey) removeFromLogs([apiKey])
    super(new AnthropicProvider({ ...options, model, baseUrl, apiKey }), options)
    this.model = model
    this.baseUrl = baseUrl
  }
}

type Settings = AnthropicClientOptions & { model: string; baseUrl: string }

class AnthropicProvider implements Provider {
  readonly passing = new Set(['rate_limited', 'overloaded', 'server_error'] as const)
  readonly #settings: Settings

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async open(tools: readonly Tool[]): Promise<OpenModel> {
    const { model, baseUrl, apiKey, settings, logger = silentLogger } = this.#settings
    if (!apiKey) throw new ModelError('missing_key', 'There is no key for Anthropic: set ANTHROPIC_API_KEY')
    const [{ ChatAnthropic }, langchain] = await Promise.all([
      import('@langchain/anthropic'),
      import('@langchain/core/messages'),
    ])
    const given = settings?.clientOptions
    const fetch = boundedFetch((given?.fetch as typeof globalThis.fetch | undefined) ?? globalThis.fetch)
    const clientOptions = { logLevel: 'off' as const, ...given, baseURL: baseUrl, fetch }
    // Attempts are made by the loop, which knows how much time there is.
    const chat = new ChatAnthropic({ ...settings, model, apiKey, maxRetries: 0, clientOptions })
    const usable = anthropicTools(tools, logger)
    const withTools = usable.length > 0 ? chat.bindTools(usable) : chat
    // Anthropic refuses a conversation with calls in it and no tools: they are offered and may not be used.
    const withoutCalls = usable.length > 0 ? chat.bindTools(usable, { tool_choice: 'none' }) : chat
    return {
      stream: async (messages, { signal, offersTools }) =>
        wholeStream(
          await (offersTools ? withTools : withoutCalls).stream(withErrorMarks(messages, langchain), {
            signal,
          }),
        ),
    }
  }

  explain(error: unknown) {
    return explainFailure(error, wordsFor(this.#settings))
  }
}

function wordsFor({ model, baseUrl }: Settings): ProviderWords {
  return {
    who: `Anthropic at ${safeText(baseUrl)}`,
    advice: {
      unreachable: 'Check the network, or ANTHROPIC_BASE_URL',
      unauthorized: 'Check ANTHROPIC_API_KEY',
      model_not_found: `Check the name of the model, '${safeText(model)}'`,
    },
  }
}
