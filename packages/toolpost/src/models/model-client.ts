import type { ToolExecutor } from '../executor/tool-executor.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
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

export interface ClientOptions {
  /** Runs the calls; may also come with each question. */
  executor?: ToolExecutor | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
  /** Take a call that the model writes as text, if it would run without anybody being asked; off if left out. */
  salvage?: boolean | undefined
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
    const { logger = silentLogger, clock, salvage } = this.#options
    const executor = options.executor ?? this.#options.executor
    if (!executor) throw new TypeError('ask needs an executor, given to the client or with the question')
    return answerWithTools(prompt, options, { provider: this.#provider, executor, logger, clock, salvage })
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
    const open = async (tools: readonly Tool[]) => openGiven(model, tools, options.logger)
    const identity = {
      provider: model._llmType?.() ?? 'unknown',
      model: typeof model.model === 'string' ? model.model : undefined,
    }
    super({ who: 'The model', advice: {}, identity, passing: ['rate_limited', 'overloaded'], open }, options)
  }
}

async function openGiven(
  model: ChatModel,
  tools: readonly Tool[],
  logger: Logger = silentLogger,
): Promise<OpenModel> {
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

/** Which rules hold for a model. Those of OpenAI are the strictest, and most others copied them. */
function rulesFor(model: ChatModel): FittingProvider | undefined {
  const type = model._llmType?.()
  if (type === undefined) return undefined
  return type === 'anthropic' || type === 'ollama' ? type : 'openai'
}
