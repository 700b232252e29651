import type { BaseMessage } from '@langchain/core/messages'
import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { removeFromLogs } from '../logging/redact.ts'
import type { Tool } from '../tools/tool.ts'
import type { Clock } from '../util/clock.ts'
import type { Environment } from '../util/platform.ts'
import { trimmedEnd } from '../util/text.ts'
import type { AiClient, Answer, AskOptions, ModelStatus, Prompt } from './ai-client.ts'
import { recordReplies } from './cassette.ts'
import { FittedTools } from './fit-schema.ts'
import { loadMessages } from './langchain.ts'
import { ModelError, type ModelErrorCode, type ProviderWords } from './model-error.ts'
import type { ReplyChunk, RequestedCall } from './read-reply.ts'
import type { Writer, WritingRequest, WritingStyle, WrittenMessage } from './settings.ts'
import { answerWithTools } from './tool-loop.ts'
import { type Setup, writeMessage } from './turn.ts'

/** A source of models, and how it differs from others. */
export interface Provider extends ProviderWords {
  readonly identity: { provider: string; model: string | undefined }
  readonly packages?: readonly string[]
  /** Failures worth a retry. */
  readonly passing: readonly ModelErrorCode[]
  readonly endsWithReason?: boolean
  /** Loads what is needed and binds the tools to the model. */
  open(tools: readonly Tool[], style?: WritingStyle): Promise<OpenModel>
}

/** A model ready for one question. */
export interface OpenModel {
  /** Whether images in a message reach the model. */
  takesImages?: boolean
  /** Translates a call to the executor's names, which may differ from those the model was given. */
  original(call: RequestedCall): RequestedCall
  /** `offersTools`: whether the model may ask for calls in this turn. `onStatus` must not throw. */
  stream(
    messages: BaseMessage[],
    turn: { signal: AbortSignal; offersTools: boolean; onStatus: (status: ModelStatus) => void },
  ): Promise<AsyncIterable<ReplyChunk>>
}

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
  write(request: WritingRequest): Promise<WrittenMessage> {
    return writeMessage(request, this.#setup)
  }
}

export interface NamedClientOptions extends ProviderClientOptions {
  model?: string | undefined
  baseUrl?: string | undefined
  apiKey?: string | undefined
  environment?: Environment | undefined
}

/** A client whose settings may come from the environment: `OPENAI_MODEL`, `OPENAI_BASE_URL`, `OPENAI_API_KEY`. */
export class NamedClient extends ProviderClient {
  readonly model: string
  readonly baseUrl: string

  constructor(
    prefix: string,
    usual: { model: string; baseUrl: string },
    options: NamedClientOptions,
    provider: (settings: NamedClientOptions & { model: string; baseUrl: string }) => Provider,
  ) {
    const { environment = process.env } = options
    const set = (name: string) => environment[`${prefix}_${name}`]?.trim() || undefined
    const { model = set('MODEL') ?? usual.model, apiKey = set('API_KEY') } = options
    const baseUrl = trimmedEnd(options.baseUrl ?? set('BASE_URL') ?? usual.baseUrl, '/')
    // An error or a result that echoes the key must not put it into a log.
    if (apiKey) removeFromLogs([apiKey])
    super(provider({ ...options, model, baseUrl, apiKey }), options)
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
    const type = model._llmType?.()
    const name = typeof model.model === 'string' ? model.model : undefined
    const open = async (tools: readonly Tool[]): Promise<OpenModel> => {
      if (tools.length > 0 && !model.bindTools)
        throw new ModelError('no_tools', 'This chat model cannot use tools: it has no bindTools')
      // OpenAI's rules are the strictest, and most other providers copied them.
      const rules = type === 'anthropic' || type === 'ollama' ? type : 'openai'
      const fitted = new FittedTools(tools, rules, quietLogger(options.logger))
      const bound = tools.length > 0 ? (model.bindTools?.([...fitted.tools] as never[]) ?? model) : model
      const langchain = await loadMessages()
      return {
        original: call => fitted.original(call),
        stream: (messages, { signal, offersTools }) =>
          (offersTools ? bound : model).stream(fitted.renamed(messages, langchain), { signal }),
      }
    }
    const identity = { provider: type ?? 'unknown', model: name }
    super({ who: 'The model', advice: {}, identity, passing: ['rate_limited', 'overloaded'], open }, options)
  }
}

/** What is given of a style, in the names of ChatAnthropic and ChatOpenAI. */
export function styleOptions({ maxTokens, temperature, stopSequences }: Partial<WritingStyle> = {}) {
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
  }
}
