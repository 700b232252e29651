import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Tool } from '../tools/tool.ts'
import type { AiClient, Answer, AskOptions, ConversationMessage } from './ai-client.ts'
import { FittedTools } from './fitting/fit-tools.ts'
import type { FittingProvider } from './fitting/rules.ts'
import { loadMessages } from './load-langchain.ts'
import { ModelError } from './model-error.ts'
import type { ChatModel, OpenModel, Provider } from './provider.ts'
import { answerWithTools } from './tool-loop.ts'
import { writeMessage } from './write-message.ts'
import type { Writer, WritingRequest, WrittenMessage } from './writing.ts'

export interface ProviderClientOptions {
  /** Runs the calls; can also be passed with each question. */
  executor?: ToolExecutor | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
}

export interface ModelClientOptions extends ProviderClientOptions {
  /** Any LangChain chat model. */
  model: ChatModel
}

/** Runs the tool loop on any provider. */
export class ProviderClient implements AiClient, Writer {
  readonly #provider: Provider
  readonly #options: ProviderClientOptions
  readonly #logger: Logger

  constructor(provider: Provider, options: ProviderClientOptions) {
    this.#provider = provider
    this.#options = options
    this.#logger = quietLogger(options.logger)
  }

  async ask(prompt: string | readonly ConversationMessage[], options: AskOptions = {}): Promise<Answer> {
    const { clock } = this.#options
    const [provider, logger] = [this.#provider, this.#logger]
    const executor = options.executor ?? this.#options.executor
    if (!executor) throw new TypeError('ask needs an executor: pass one to the client or to ask()')
    return answerWithTools(prompt, options, { provider, executor, logger, clock })
  }

  /** Has the model write a single message, without tools. Rejects with a ModelError. */
  write(request: WritingRequest): Promise<WrittenMessage> {
    const { clock } = this.#options
    return writeMessage(request, { provider: this.#provider, logger: this.#logger, clock })
  }
}

/** A client for any LangChain chat model. */
export class ModelClient extends ProviderClient {
  constructor({ model, ...options }: ModelClientOptions) {
    const open = async (tools: readonly Tool[]) => openGiven(model, tools, quietLogger(options.logger))
    const identity = {
      provider: model._llmType?.() ?? 'unknown',
      model: typeof model.model === 'string' ? model.model : undefined,
    }
    super({ who: 'The model', advice: {}, identity, passing: ['rate_limited', 'overloaded'], open }, options)
  }
}

async function openGiven(model: ChatModel, tools: readonly Tool[], logger: Logger): Promise<OpenModel> {
  if (tools.length > 0 && !model.bindTools)
    throw new ModelError('no_tools', 'This chat model cannot use tools: it has no bindTools')
  const provider = rulesFor(model)
  const fitted = provider && new FittedTools(tools, { provider, logger })
  const offered = fitted?.tools ?? tools
  const withTools = tools.length > 0 && model.bindTools ? model.bindTools([...offered] as never[]) : model
  const langchain = await loadMessages()
  return {
    original: call => fitted?.original(call) ?? call,
    stream: (messages, { signal, offersTools }) =>
      (offersTools ? withTools : model).stream(fitted?.renamed(messages, langchain) ?? messages, { signal }),
  }
}

/** The rules for a model. OpenAI's are the strictest, and most other providers copied them. */
function rulesFor(model: ChatModel): FittingProvider | undefined {
  const type = model._llmType?.()
  if (type === undefined) return undefined
  return type === 'anthropic' || type === 'ollama' ? type : 'openai'
}
