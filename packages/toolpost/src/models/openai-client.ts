import type { ChatOpenAIFields } from '@langchain/openai'
import { safeText } from '../logging/safe-value.ts'
import type { OpenAiSettings } from './ai-client.ts'
import { withImagesAfterResults } from './conversation.ts'
import { toQwenTools } from './fit-schema.ts'
import { boundedFetch } from './langchain.ts'
import { type Named, NamedClient, type NamedClientOptions, type ProviderRules } from './model-client.ts'
import { missingKey } from './model-error.ts'

const DEFAULT_ADDRESS = 'https://api.openai.com/v1'

export interface OpenAiClientOptions extends NamedClientOptions, OpenAiSettings {
  /** More options for ChatOpenAI, such as `maxTokens` or `temperature`. */
  settings?: Partial<Omit<ChatOpenAIFields, 'model' | 'apiKey' | 'configuration'>> | undefined
}

/** A client for OpenAI and every server with the same API. LangChain is loaded with the first question. */
export class OpenAiClient extends NamedClient {
  constructor(options: OpenAiClientOptions) {
    super('openai', { model: 'gpt-5-mini', baseUrl: DEFAULT_ADDRESS }, options, openAiRules)
  }
}

function openAiRules(options: Named<OpenAiClientOptions>): ProviderRules {
  const { model, baseUrl, apiKey, settings, fetch } = options
  const isOpenAi = baseUrl === DEFAULT_ADDRESS
  const { images: takesImages = isOpenAi } = options
  return {
    who: isOpenAi ? 'OpenAI' : `The OpenAI-compatible server at ${safeText(baseUrl)}`,
    advice: {
      unreachable: 'Check the network, or OPENAI_BASE_URL',
      unauthorized: 'Check OPENAI_API_KEY',
      model_not_found: `Check the model name '${safeText(model)}', and that the address ends as it should, mostly with /v1`,
    },
    async open(tools, langchain, style) {
      if (!apiKey && isOpenAi) throw missingKey('openai')
      const { ChatOpenAICompletions } = await import('@langchain/openai')
      const configuration = { baseURL: baseUrl, fetch: boundedFetch(fetch), logLevel: 'off' as const }
      // The loop retries: it knows how much time is left.
      const fixed = { model, apiKey: apiKey || 'none', maxRetries: 0, configuration }
      const chat = new ChatOpenAICompletions({ ...settings, ...style, ...fixed })
      const withTools = tools.length > 0 ? chat.bindTools(toQwenTools(tools)) : chat
      return (messages, { signal, offersTools }) => {
        const shown = takesImages ? withImagesAfterResults(messages, langchain) : messages
        return (offersTools ? withTools : chat).stream(shown, { signal })
      }
    },
  }
}
