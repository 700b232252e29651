import type { BaseMessage } from '@langchain/core/messages'
import type { ChatOllamaInput } from '@langchain/ollama'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { fitsGlob } from '../../runtime/glob.ts'
import { contextFor, DEFAULT_MAX_CONTEXT, estimateTokens } from './context-size.ts'
import { isLoaded, type ModelFacts, modelFacts } from './model-facts.ts'
import type { OllamaSettings } from './ollama-settings.ts'
import type { QwenTool } from './to-qwen-tools.ts'

/** A home assistant is asked every now and then, and loading takes longer than the answer. */
const DEFAULT_KEEP_ALIVE = '30m'

interface RequestSetup extends OllamaSettings {
  model: string
  server: { baseUrl: string; fetch: typeof globalThis.fetch }
  logger: Logger
  /** What the program itself wants; it goes before everything else. */
  settings?: ChatOllamaInput | undefined
}

/** What is asked of Ollama beside the messages, chosen for each request: think, context size, keep-alive. */
export class OllamaRequests {
  readonly #setup: RequestSetup
  #facts: ModelFacts | undefined
  #context: number | undefined
  #hasWarned = false

  constructor(setup: RequestSetup) {
    this.#setup = setup
  }

  /** Learns what there is to know about the model: once, and without it if Ollama does not answer. */
  async prepare(): Promise<void> {
    const { server, model } = this.#setup
    const known = this.#facts ?? (await modelFacts(server, model))
    if (Object.keys(known).length > 0) this.#facts = known
  }

  isLoaded(): Promise<boolean | undefined> {
    return isLoaded(this.#setup.server, this.#setup.model)
  }

  settingsFor(messages: readonly BaseMessage[], tools: readonly QwenTool[]): ChatOllamaInput {
    const { settings, keepAlive = DEFAULT_KEEP_ALIVE } = this.#setup
    const think = this.#think()
    return {
      keepAlive,
      numCtx: this.#contextSize(messages, tools),
      ...(think !== undefined && { think }),
      ...settings,
    }
  }

  /** A model that cannot think refuses the request, so it is not asked to. */
  #think(): boolean | undefined {
    const { think, model } = this.#setup
    const wanted = typeof think === 'object' ? forModel(think, model) : think
    return wanted && this.#facts?.canThink === false ? undefined : wanted
  }

  /** Only ever grows: another size means that the model is loaded again. */
  #contextSize(messages: readonly BaseMessage[], tools: readonly QwenTool[]): number {
    const { maxContext = DEFAULT_MAX_CONTEXT, settings, model, logger } = this.#setup
    const toolTokens = estimateTokens(tools)
    const historyTokens = estimateTokens(messages.map(({ content, ...more }) => [content, callsOf(more)]))
    const most = Math.min(
      settings?.numCtx ?? maxContext,
      this.#facts?.contextLength ?? Number.POSITIVE_INFINITY,
    )
    const atLeast = settings?.numCtx ?? this.#context ?? this.#facts?.ownContext
    const { size, fits } = contextFor({ tokens: toolTokens + historyTokens, atLeast, most })
    this.#context = size
    if (!fits && !this.#hasWarned)
      logger.warn(
        { model: safeText(model), context: size, tool_tokens: toolTokens, history_tokens: historyTokens },
        'Tools and history do not fit the context of the model: offer fewer tools, or raise models.ollama.maxContext',
      )
    this.#hasWarned = !fits
    return size
  }
}

function callsOf(message: object): unknown {
  return (message as { tool_calls?: unknown }).tool_calls
}

/** The longest pattern that fits says the most. */
function forModel(think: Readonly<Record<string, boolean>>, model: string): boolean | undefined {
  const [best] = Object.keys(think)
    .filter(pattern => fitsGlob(model, pattern))
    .sort((a, b) => b.length - a.length)
  return best === undefined ? undefined : think[best]
}
