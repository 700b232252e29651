import type { ChatOpenAIFields } from '@langchain/openai'
import { quietLogger } from '../logging/quiet-logger.ts'
import { removeFromLogs } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import type { Environment } from '../util/environment.ts'
import { trimmedEnd } from '../util/trimmed-end.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { withImagesAfterResults } from './conversation.ts'
import { FittedTools } from './fit-tools.ts'
import { loadLangChain, loadMessages, PACKAGES } from './load-langchain.ts'
import { type Provider, ProviderClient, type ProviderClientOptions } from './model-client.ts'
import { ModelError } from './model-error.ts'
import type { OpenAiSettings } from './settings.ts'
import { toQwenTools } from './to-qwen-tools.ts'
import { styleOptions } from './writing.ts'

const DEFAULT_MODEL = 'gpt-5-mini'
const DEFAULT_ADDRESS = 'https://api.openai.com/v1'

export interface OpenAiClientOptions extends ProviderClientOptions, OpenAiSettings {
  /** `OPENAI_MODEL` if left out, else `gpt-5-mini`. */
  model?: string | undefined
  /** More options for ChatOpenAI, such as `maxTokens` or `temperature`. */
  settings?: Partial<Omit<ChatOpenAIFields, 'model' | 'apiKey' | 'configuration'>> | undefined
  fetch?: typeof globalThis.fetch | undefined
  environment?: Environment | undefined
}

/** A client for OpenAI and every server with the same API. LangChain is loaded with the first question. */
export class OpenAiClient extends ProviderClient {
  readonly model: string
  readonly baseUrl: string

  constructor(options: OpenAiClientOptions) {
    const { environment = process.env } = options
    const model = options.model ?? (environment.OPENAI_MODEL?.trim() || DEFAULT_MODEL)
    const baseUrl = trimmedEnd(
      options.baseUrl ?? (environment.OPENAI_BASE_URL?.trim() || DEFAULT_ADDRESS),
      '/',
    )
    const apiKey = options.apiKey ?? environment.OPENAI_API_KEY?.trim()
    // An error or a result that echoes the key must not put it into a log.
    if (apiKey) removeFromLogs([apiKey])
    super(openAiProvider({ ...options, model, baseUrl, apiKey }), options)
    this.model = model
    this.baseUrl = baseUrl
  }
}

type Settings = OpenAiClientOptions & { model: string; baseUrl: string }

function openAiProvider({ model, baseUrl, apiKey, settings, images, ...options }: Settings): Provider {
  const isOpenAi = baseUrl === DEFAULT_ADDRESS
  const takesImages = images ?? isOpenAi
  return {
    packages: PACKAGES.openai,
    identity: { provider: 'openai', model },
    who: isOpenAi ? 'OpenAI' : `The OpenAI-compatible server at ${safeText(baseUrl)}`,
    advice: {
      unreachable: 'Check the network, or OPENAI_BASE_URL',
      unauthorized: 'Check OPENAI_API_KEY',
      model_not_found: `Check the model name '${safeText(model)}', and that the address ends as it should, mostly with /v1`,
    },
    passing: ['rate_limited', 'overloaded', 'server_error'],
    endsWithReason: true,
    async open(tools, style) {
      if (!apiKey && isOpenAi) throw missingOpenAiKey()
      const load = () => import('@langchain/openai')
      const [{ ChatOpenAICompletions }, langchain] = await Promise.all([
        loadLangChain(PACKAGES.openai, load),
        loadMessages(),
      ])
      const fetch = boundedFetch(options.fetch ?? globalThis.fetch)
      const chat = new ChatOpenAICompletions({
        ...settings,
        ...styleOptions(style),
        model,
        apiKey: apiKey || 'none',
        // The loop retries: it knows how much time is left.
        maxRetries: 0,
        configuration: { baseURL: baseUrl, fetch, logLevel: 'off' },
      })
      const fitted = new FittedTools(tools, 'openai', quietLogger(options.logger))
      const withTools = tools.length > 0 ? chat.bindTools(toQwenTools(fitted.tools)) : chat
      return {
        takesImages,
        original: call => fitted.original(call),
        stream(messages, { signal, offersTools }) {
          const sent = fitted.renamed(messages, langchain)
          const shown = takesImages ? withImagesAfterResults(sent, langchain) : sent
          return (offersTools ? withTools : chat).stream(shown, { signal })
        },
      }
    },
  }
}

export function missingOpenAiKey(): ModelError {
  return new ModelError(
    'missing_key',
    'No OpenAI API key: set OPENAI_API_KEY, or OPENAI_BASE_URL to another server',
  )
}
