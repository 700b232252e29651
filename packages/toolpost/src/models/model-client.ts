import type { ToolExecutor } from '../executor/tool-executor.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Tool } from '../tools/tool.ts'
import type { AiClient, Answer, AskOptions, ConversationMessage } from './ai-client.ts'
import { ModelError } from './model-error.ts'
import type { ChatModel, OpenModel, Provider } from './provider.ts'
import { answerWithTools } from './tool-loop.ts'
import { writeMessage } from './write-message.ts'
import type { Writer, WritingRequest, WrittenMessage } from './writing.ts'

export interface ClientOptions {
  /** Runs the calls; may also come with each question. */
  executor?: ToolExecutor | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
}

export interface ModelClientOptions extends ClientOptions {
  /** Any chat model of LangChain. */
  model: ChatModel
}

/** Asks through the one loop, whatever the provider. */
export class ProviderClient implements AiClient, Writer {
  readonly #provider: Provider
  readonly #options: ClientOptions

  constructor(provider: Provider, options: ClientOptions) {
    this.#provider = provider
    this.#options = options
  }

  async ask(prompt: string | readonly ConversationMessage[], options: AskOptions = {}): Promise<Answer> {
    const { logger = silentLogger, clock } = this.#options
    const executor = options.executor ?? this.#options.executor
    if (!executor) throw new TypeError('ask needs an executor, given to the client or with the question')
    return answerWithTools(prompt, options, { provider: this.#provider, executor, logger, clock })
  }

  /** Has the model write a single message, without tools. Rejects with a ModelError. */
  write(request: WritingRequest): Promise<WrittenMessage> {
    const { logger = silentLogger, clock } = this.#options
    return writeMessage(request, { provider: this.#provider, logger, clock })
  }
}

/** A client on any chat model of LangChain. */
export class ModelClient extends ProviderClient {
  constructor({ model, ...options }: ModelClientOptions) {
    const open = async (tools: readonly Tool[]) => openGiven(model, tools)
    const identity = {
      provider: model._llmType?.() ?? 'unknown',
      model: typeof model.model === 'string' ? model.model : undefined,
    }
    super({ who: 'The model', advice: {}, identity, passing: ['rate_limited', 'overloaded'], open }, options)
  }
}

function openGiven(model: ChatModel, tools: readonly Tool[]): OpenModel {
  if (tools.length > 0 && !model.bindTools)
    throw new ModelError('no_tools', 'This chat model cannot use tools: it has no bindTools')
  const withTools = tools.length > 0 && model.bindTools ? model.bindTools([...tools] as never[]) : model
  return {
    stream: (messages, { signal, offersTools }) =>
      (offersTools ? withTools : model).stream(messages, { signal }),
  }
}
