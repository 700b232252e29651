import type { ChatOllamaInput } from '@langchain/ollama'
import { silentLogger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { trimmedEnd } from '../../runtime/trimmed-end.ts'
import { flattened } from '../conversation.ts'
import type { Environment } from '../environment.ts'
import { type ClientOptions, ProviderClient } from '../model-client.ts'
import type { Provider } from '../provider.ts'
import type { WritingStyle } from '../writing.ts'
import { ollamaAddress } from './address.ts'
import { ollamaFetch } from './ollama-fetch.ts'
import { toQwenTools } from './to-qwen-tools.ts'

/** Small enough for any machine, and it knows tools. */
const DEFAULT_OLLAMA_MODEL = 'qwen3:0.6b'

export interface OllamaClientOptions extends ClientOptions {
  /** `OLLAMA_MODEL` if left out, else `qwen3:0.6b`. */
  model?: string | undefined
  /** `OLLAMA_BASE_URL` or `OLLAMA_HOST` if left out, else `http://127.0.0.1:11434`. */
  baseUrl?: string | undefined
  /** More for ChatOllama, such as `numCtx`, `think`, `temperature` or `keepAlive`. */
  settings?: Omit<ChatOllamaInput, 'model' | 'baseUrl' | 'fetch'> | undefined
  fetch?: typeof globalThis.fetch | undefined
  environment?: Environment | undefined
}

/** A client on a model of Ollama. LangChain is loaded with the first question. */
export class OllamaClient extends ProviderClient {
  readonly model: string
  readonly baseUrl: string

  constructor(options: OllamaClientOptions) {
    const { environment = process.env } = options
    const model = options.model ?? (environment.OLLAMA_MODEL?.trim() || DEFAULT_OLLAMA_MODEL)
    const baseUrl = trimmedEnd(options.baseUrl ?? ollamaAddress(environment), '/')
    super(ollamaProvider({ ...options, model, baseUrl }), options)
    this.model = model
    this.baseUrl = baseUrl
  }
}

type Settings = OllamaClientOptions & { model: string; baseUrl: string }

function ollamaProvider({ model, baseUrl, settings, ...options }: Settings): Provider {
  const { fetch = globalThis.fetch, logger = silentLogger } = options
  const name = safeText(model)
  return {
    identity: { provider: 'ollama', model },
    who: `Ollama at ${safeText(baseUrl)}`,
    advice: {
      unreachable: 'Start it with `ollama serve`, or set OLLAMA_BASE_URL to where it runs',
      model_not_found: `Get the model with \`ollama pull ${name}\``,
      no_tools: `'${name}' cannot call tools: take one that can, such as \`ollama pull ${DEFAULT_OLLAMA_MODEL}\``,
    },
    // A model that crashed crashes again; a server that has its hands full may have them free in a moment.
    passing: ['rate_limited', 'overloaded'],
    async open(tools, style) {
      const [{ ChatOllama }, langchain] = await Promise.all([
        import('@langchain/ollama'),
        import('@langchain/core/messages'),
      ])
      const converted = toQwenTools(tools)
      const count = converted.length
      logger.debug({ count }, `🔧 Converted ${count} tools from LangChain to Qwen format`)
      return {
        async stream(messages, { signal, offersTools }) {
          // One for each turn: the fetch of a ChatOllama, and with it the signal, is fixed when it is made.
          const chat = new ChatOllama({
            ...settings,
            ...optionsOf(style),
            model,
            baseUrl,
            fetch: ollamaFetch(signal, fetch),
          })
          const ready = offersTools && count > 0 ? chat.bindTools(converted) : chat
          return ready.stream(flattened(messages, langchain))
        },
      }
    },
  }
}

/** Under the names that Ollama has for them. */
function optionsOf(style: WritingStyle | undefined): Partial<ChatOllamaInput> {
  if (!style) return {}
  const { maxTokens, temperature, stopSequences = [] } = style
  return {
    numPredict: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences.length > 0 && { stop: [...stopSequences] }),
  }
}
