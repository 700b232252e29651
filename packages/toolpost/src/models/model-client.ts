import type { BaseMessage } from '@langchain/core/messages'
import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { removeFromLogs } from '../logging/redact.ts'
import type { Tool } from '../tools/tool.ts'
import type { Clock } from '../util/clock.ts'
import type { Environment } from '../util/platform.ts'
import type { AiClient, Answer, AskOptions, Prompt, Writer, WritingRequest } from './ai-client.ts'
import { recordReplies } from './cassette.ts'
import type { FittingProvider } from './fit-schema.ts'
import type { LangChainMessages } from './langchain.ts'
import { ModelError, type ProviderWords } from './model-error.ts'
import type { ReplyChunk } from './read-reply.ts'
import { answerWithTools, type Setup, writeMessage } from './tool-loop.ts'

/** A source of models. */
export interface Provider extends ProviderWords {
  /** LangChain's name for it. */
  name: string
  model: string | undefined
  /** Loads the library and binds the tools, which the provider accepts as they are. */
  open(tools: readonly Tool[], langchain: LangChainMessages, style: Style): Promise<StreamReply>
}

export type ProviderRules = Omit<Provider, 'name' | 'model'>
type Style = Partial<Pick<WritingRequest, 'maxTokens' | 'temperature' | 'stopSequences'>>

/** `offersTools`: whether the model may ask for calls in this turn. `onStatus` must not throw. */
export type StreamReply = (
  messages: BaseMessage[],
  turn: { signal: AbortSignal; offersTools: boolean; onStatus: NonNullable<AskOptions['onStatus']> },
) => Promise<AsyncIterable<ReplyChunk>>

/** What Toolpost needs from a chat model; every LangChain chat model has it. */
export interface ChatModel extends Streaming {
  /** Accepts tools in LangChain's format. (`never`, since every chat model types them differently.) */
  bindTools?(tools: never[]): Streaming
  /** The model's name, under the property most of them use. */
  readonly model?: unknown
  _llmType?(): string
}

interface Streaming {
  stream(messages: BaseMessage[], options?: { signal?: AbortSignal }): Promise<AsyncIterable<ReplyChunk>>
}

interface ProviderClientOptions {
  executor?: ToolExecutor | undefined
  logger?: Logger | undefined
  clock?: Clock | undefined
  /** A cassette that the replies of the model are appended to. */
  record?: string | undefined
}

/** Runs the tool loop on any provider. */
class ProviderClient implements AiClient, Writer {
  readonly #executor: ToolExecutor | undefined
  readonly #setup: Setup

  constructor(provider: Provider, { executor, logger, clock, record }: ProviderClientOptions) {
    this.#executor = executor
    const onReply = record === undefined ? undefined : recordReplies(record)
    this.#setup = { provider, logger: quietLogger(logger), clock, onReply }
  }

  async ask(prompt: Prompt, options: AskOptions = {}): Promise<Answer> {
    const executor = options.executor ?? this.#executor
    if (!executor) throw new TypeError('ask needs an executor: pass one to the client or to ask()')
    return answerWithTools(prompt, { ...options, executor }, this.#setup)
  }

  /** Has the model write a single message, without tools. Rejects with a ModelError. */
  write(request: WritingRequest): ReturnType<Writer['write']> {
    return writeMessage(request, this.#setup)
  }
}

export interface NamedClientOptions extends ProviderClientOptions {
  /** `ANTHROPIC_MODEL`, `OLLAMA_MODEL` or `OPENAI_MODEL` if left out, else a small one. */
  model?: string | undefined
  /** `ANTHROPIC_BASE_URL`, `OLLAMA_BASE_URL` or `OPENAI_BASE_URL` if left out, else the usual one. */
  baseUrl?: string | undefined
  /** `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` if left out. */
  apiKey?: string | undefined
  environment?: Environment | undefined
  fetch?: typeof globalThis.fetch | undefined
}

/** Options with what the environment and the defaults add. */
export type Named<Options> = Options & { model: string; baseUrl: string }

/** A client whose settings may come from the environment: `OPENAI_MODEL`, `OPENAI_BASE_URL`, `OPENAI_API_KEY`. */
export class NamedClient extends ProviderClient {
  readonly model: string
  readonly baseUrl: string

  constructor(
    name: FittingProvider,
    usual: { model: string; baseUrl: string },
    options: NamedClientOptions,
    rules: (options: Named<NamedClientOptions>) => ProviderRules,
  ) {
    const { environment = process.env } = options
    const set = (setting: string) => environment[`${name.toUpperCase()}_${setting}`]?.trim() || undefined
    const { model = set('MODEL') ?? usual.model, apiKey = set('API_KEY') } = options
    const baseUrl = (options.baseUrl ?? set('BASE_URL') ?? usual.baseUrl).replace(/\/+$/, '')
    // An error or a result that echoes the key must not put it into a log.
    if (apiKey) removeFromLogs([apiKey])
    super({ ...rules({ ...options, model, baseUrl, apiKey }), name, model }, options)
    this.model = model
    this.baseUrl = baseUrl
  }
}

export interface ModelClientOptions extends ProviderClientOptions {
  model: ChatModel
}

/** A client for any LangChain chat model. */
export class ModelClient extends ProviderClient {
  constructor({ model, ...options }: ModelClientOptions) {
    const open = async (tools: readonly Tool[]): Promise<StreamReply> => {
      if (tools.length > 0 && !model.bindTools)
        throw new ModelError('no_tools', 'This chat model cannot use tools: it has no bindTools')
      const bound = tools.length > 0 ? (model.bindTools?.([...tools] as never[]) ?? model) : model
      return (messages, { signal, offersTools }) => (offersTools ? bound : model).stream(messages, { signal })
    }
    const modelName = typeof model.model === 'string' ? model.model : undefined
    const named = { name: model._llmType?.() ?? 'unknown', model: modelName }
    super({ who: 'The model', advice: {}, ...named, open }, options)
  }
}
