import type { ChatOpenAIFields } from '@langchain/openai'
import { quietLogger } from '../logging/quiet-logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { withImagesAfterResults } from './conversation.ts'
import { FittedTools, toQwenTools } from './fit-schema.ts'
import { boundedFetch, loadLangChain, loadMessages, PACKAGES } from './langchain.ts'
import { NamedClient, type NamedClientOptions, type Provider, styleOptions } from './model-client.ts'
import { ModelError } from './model-error.ts'
import type { OpenAiSettings } from './settings.ts'

const DEFAULT_ADDRESS = 'https://api.openai.com/v1'

export interface OpenAiClientOptions extends NamedClientOptions, OpenAiSettings {
  /** `OPENAI_MODEL` if left out, else `gpt-5-mini`. */
  model?: string | undefined
  /** More options for ChatOpenAI, such as `maxTokens` or `temperature`. */
  settings?: Partial<Omit<ChatOpenAIFields, 'model' | 'apiKey' | 'configuration'>> | undefined
  fetch?: typeof globalThis.fetch | undefined
}

/** A client for OpenAI and every server with the same API. LangChain is loaded with the first question. */
export class OpenAiClient extends NamedClient {
  constructor(options: OpenAiClientOptions) {
    super('OPENAI', { model: 'gpt-5-mini', baseUrl: DEFAULT_ADDRESS }, options, openAiProvider)
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
      const library = await loadLangChain(PACKAGES.openai, () => import('@langchain/openai'))
      const langchain = await loadMessages()
      // The loop retries: it knows how much time is left.
      const fixed = { model, apiKey: apiKey || 'none', maxRetries: 0 }
      const configuration = { baseURL: baseUrl, fetch: boundedFetch(options.fetch), logLevel: 'off' as const }
      const given = { ...settings, ...styleOptions(style), ...fixed, configuration }
      const chat = new library.ChatOpenAICompletions(given)
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
  const problem = 'No OpenAI API key: set OPENAI_API_KEY, or OPENAI_BASE_URL to another server'
  return new ModelError('missing_key', problem)
}
