import type { ChatOllamaInput } from '@langchain/ollama'
import { quietLogger } from '../../logging/quiet-logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import type { Environment } from '../../runtime/environment.ts'
import { trimmedEnd } from '../../runtime/trimmed-end.ts'
import { flattened } from '../conversation.ts'
import { FittedTools } from '../fitting/fit-tools.ts'
import { loadMessages, loadOllama, OLLAMA_PACKAGES } from '../load-langchain.ts'
import { ProviderClient, type ProviderClientOptions } from '../model-client.ts'
import type { Provider } from '../provider.ts'
import type { WritingStyle } from '../writing.ts'
import { ollamaAddress } from './address.ts'
import { Loading } from './loading.ts'
import { ollamaFetch } from './ollama-fetch.ts'
import { OllamaRequests } from './ollama-requests.ts'
import type { OllamaSettings } from './ollama-settings.ts'
import { offeredName, toQwenTools } from './to-qwen-tools.ts'

/** Small enough for any machine, and can use tools. */
const DEFAULT_OLLAMA_MODEL = 'qwen3:0.6b'

export interface OllamaClientOptions extends ProviderClientOptions, OllamaSettings {
  /** `OLLAMA_MODEL` if left out, else `qwen3:0.6b`. */
  model?: string | undefined
  /** `OLLAMA_BASE_URL` or `OLLAMA_HOST` if left out, else `http://127.0.0.1:11434`. */
  baseUrl?: string | undefined
  /** More options for ChatOllama, such as `numCtx`, `think`, `temperature` or `keepAlive`. */
  settings?: Omit<ChatOllamaInput, 'model' | 'baseUrl' | 'fetch'> | undefined
  fetch?: typeof globalThis.fetch | undefined
  environment?: Environment | undefined
}

/** A client for an Ollama model. LangChain is loaded with the first question. */
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
  const { fetch = globalThis.fetch, clock } = options
  const logger = quietLogger(options.logger)
  const name = safeText(model)
  const requests = new OllamaRequests({ ...options, model, settings, logger, server: { baseUrl, fetch } })
  return {
    packages: OLLAMA_PACKAGES,
    identity: { provider: 'ollama', model },
    who: `Ollama at ${safeText(baseUrl)}`,
    advice: {
      unreachable: 'Start it with `ollama serve`, or set OLLAMA_BASE_URL to where it runs',
      model_not_found: `Get the model with \`ollama pull ${name}\``,
      no_tools: `'${name}' cannot call tools: get one that can, such as \`ollama pull ${DEFAULT_OLLAMA_MODEL}\``,
    },
    // A model that crashed will crash again; a busy server may be free in a moment.
    passing: ['rate_limited', 'overloaded'],
    async open(tools, style) {
      const [{ ChatOllama }, langchain] = await Promise.all([
        loadOllama(),
        loadMessages(),
        requests.prepare(),
      ])
      const fitted = new FittedTools(tools, { provider: 'ollama', logger, nameOf: offeredName })
      const converted = toQwenTools(fitted.tools)
      const count = converted.length
      logger.debug({ count }, `🔧 Converted ${count} tools from LangChain to Qwen format`)
      let isFirst = true
      return {
        original: call => fitted.original(call),
        async stream(messages, { signal, offersTools, onStatus }) {
          const sent = flattened(fitted.renamed(messages, langchain), langchain)
          const offered = offersTools ? converted : []
          const isLoaded = isFirst ? () => requests.isLoaded() : async () => true
          const loading = new Loading({ model, isLoaded, onStatus, signal, clock })
          isFirst = false
          try {
            // One per turn: a ChatOllama's fetch, and with it the signal, is fixed at construction.
            const request = requests.settingsFor(sent, offered)
            const chat = new ChatOllama({
              ...request,
              ...optionsOf(style),
              model,
              baseUrl,
              fetch: ollamaFetch(signal, fetch),
            })
            const ready = offered.length > 0 ? chat.bindTools(offered) : chat
            return loading.until(await ready.stream(sent))
          } catch (error) {
            loading.end()
            throw error
          }
        },
      }
    },
  }
}

/** In ChatOllama's names. */
function optionsOf(style: WritingStyle | undefined): Partial<ChatOllamaInput> {
  if (!style) return {}
  const { maxTokens, temperature, stopSequences = [] } = style
  return {
    numPredict: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences.length > 0 && { stop: [...stopSequences] }),
  }
}
