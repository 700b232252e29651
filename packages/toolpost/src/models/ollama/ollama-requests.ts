import type { BaseMessage } from '@langchain/core/messages'
import type { ChatOllamaInput } from '@langchain/ollama'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { fitsGlob } from '../../runtime/glob.ts'
import { contextFor, DEFAULT_MAX_CONTEXT, estimateTokens } from './context-size.ts'
import { isLoaded, type ModelFacts, modelFacts } from './model-facts.ts'
import type { OllamaSettings } from './ollama-settings.ts'
import type { QwenTool } from './to-qwen-tools.ts'

/** A home assistant is asked only now and then, and loading takes longer than answering. */
const DEFAULT_KEEP_ALIVE = '30m'

interface RequestSetup extends OllamaSettings {
  model: string
  server: { baseUrl: string; fetch: typeof globalThis.fetch }
  logger: Logger
  /** The program's own settings; they override everything else. */
  settings?: ChatOllamaInput | undefined
}

/** Chooses the settings of each request: think, context size, keep-alive. */
export class OllamaRequests {
  readonly #setup: RequestSetup
  #facts: ModelFacts | undefined
  #context: number | undefined
  #hasWarned = false

  constructor(setup: RequestSetup) {
    this.#setup = setup
  }

  /** Looks up the model's facts, once; does without them if Ollama does not respond. */
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

  /** Ollama rejects a request to think if the model cannot, so `think` is left out then. */
  #think(): boolean | undefined {
    const { think, model } = this.#setup
    const wanted = typeof think === 'object' ? forModel(think, model) : think
    return wanted && this.#facts?.canThink === false ? undefined : wanted
  }

  /** Only ever grows: any other size makes Ollama reload the model. */
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
        'Tools and history do not fit the model context: offer fewer tools, or raise models.ollama.maxContext',
      )
    this.#hasWarned = !fits
    return size
  }
}

function callsOf(message: object): unknown {
  return (message as { tool_calls?: unknown }).tool_calls
}

/** The longest matching pattern wins. */
function forModel(think: Readonly<Record<string, boolean>>, model: string): boolean | undefined {
  const [best] = Object.keys(think)
    .filter(pattern => fitsGlob(model, pattern))
    .sort((a, b) => b.length - a.length)
  return best === undefined ? undefined : think[best]
}
