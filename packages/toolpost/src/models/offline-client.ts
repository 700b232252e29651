import type {
  Answered,
  Dialogue,
  Meaning,
  SentenceFile,
  SentenceGraph,
  Sentences,
  Situation,
} from 'toolpost-sentences'
import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import { callerOptions } from '../executor/options.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { SENTENCES_META, type Tool } from '../tools/tool.ts'
import { Listeners } from '../util/listeners.ts'
import { describeThrown } from '../util/quietly.ts'
import type { AiClient, Answer, AskOptions, ConversationMessage, PlainMessage } from './ai-client.ts'
import { roleOf } from './conversations.ts'
import { DEFAULT_TIME_LIMIT_MS } from './limits.ts'
import { harmless } from './listener.ts'
import { ModelError } from './model-error.ts'
import { textOfContent } from './read-reply.ts'
import { runCalls } from './run-calls.ts'
import { TimeIsUp, TimeLimit } from './time-limit.ts'

/** `sentences` in the configuration. */
export interface SentenceSettings {
  /** A folder of sentence files in Home Assistant's format. */
  folder?: string | undefined
  language?: string | undefined
  rooms?: Readonly<Record<string, readonly string[]>> | undefined
  floors?: Readonly<Record<string, readonly string[]>> | undefined
  groups?: Readonly<Record<string, readonly string[]>> | undefined
  aliases?: Readonly<Record<string, readonly string[]>> | undefined
  rules?: Readonly<Record<string, string>> | undefined
  lists?: Readonly<Record<string, object>> | undefined
}

export interface OfflineClientOptions {
  /** Runs the calls; can also be passed with each question. */
  executor?: ToolExecutor | undefined
  logger?: Logger | undefined
  sentences?: SentenceSettings | undefined
}

/** What a request means, found out without doing anything. */
export interface Understood {
  /**
   * `act`: calls that change something; `tell`: calls that only read; `ask`: would ask what is meant; `talk`: answers
   * without a call; `nothing`: not understood.
   */
  kind: 'act' | 'tell' | 'ask' | 'talk' | 'nothing'
  /** Equal for requests with the same meaning; empty if not understood. */
  key: string
  changes: boolean
  /** No sentence fits, so it is only a guess: any question may be one for the notes. */
  isGuess?: boolean
  /** How many words are free text. */
  free: number
  /** To be passed to `ask` instead of having the text understood again. */
  meaning?: object | undefined
}

const FRESH_MS = 60_000
const RECENT_MS = 2_000
const LISTING_TIMEOUT_MS = 5_000
const NOT_UNDERSTOOD: Understood = { kind: 'nothing', key: '', changes: false, free: 0 }

/**
 * Answers without a model: a sentence matches the request, its tool runs, and the result is phrased. `toolpost-sentences` is loaded with
 * the first question, or by `load`. Its messages are plain objects that the other clients accept as history.
 */
export class OfflineClient implements AiClient {
  readonly #executor: ToolExecutor | undefined
  readonly #logger: Logger
  readonly #settings: SentenceSettings
  readonly #listeners: Listeners<{ graph: undefined }>
  #loading: Promise<Sentences> | undefined
  #sentences: Sentences | undefined
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor({ executor, sentences = {}, ...options }: OfflineClientOptions = {}) {
    this.#executor = executor
    this.#settings = sentences
    this.#logger = quietLogger(options.logger)
    this.#listeners = new Listeners((_, error) =>
      this.#logger.warn({ error: describeThrown(error) }, 'A listener for changed sentences failed'),
    )
  }

  /** Loads the sentences; `understand`, `graph` and `problems` need it first. */
  async load(): Promise<void> {
    this.#loading ??= import('toolpost-sentences').then(
      module => new module.Sentences(this.#settings as ConstructorParameters<typeof Sentences>[0]),
    )
    this.#sentences = await this.#loading
  }

  /** What a request means in its conversation. Makes no calls. */
  understand(prompt: string | readonly ConversationMessage[], options: AskOptions = {}): Understood {
    const situation = this.#situation(options)
    const meaning = this.#loaded().understand(questionIn(prompt), situation, {
      dialogue: dialogueIn(prompt),
      area: options.area,
    })
    if (!meaning) return NOT_UNDERSTOOD
    const { kind, key, free, isGuess } = meaning
    return { kind, key, free, changes: kind === 'act', ...(isGuess && { isGuess }), meaning }
  }

  /** What is wrong with the sentence files and the tools' sentences. */
  problems(options: AskOptions = {}): string[] {
    return this.#loaded().problems(this.#situation(options))
  }

  /** All sentences that can be understood now. Returns the same graph until that changes. */
  graph(options: AskOptions = {}): SentenceGraph {
    return this.#loaded().graph(this.#situation(options))
  }

  /** Devices that cannot be spoken. */
  unspeakable(options: AskOptions = {}): readonly string[] {
    return this.#loaded().unspeakable(this.#situation(options))
  }

  /** Calls `listener` when the sentences that can be understood change; returns a function that stops it. */
  onGraphChange(listener: () => void, options: AskOptions = {}): () => void {
    const stop = this.#listeners.on('graph', listener)
    const stopTools = this.#executorFor(options).tools.onChange(() => {
      void this.refresh(options).then(() => this.#listeners.tell('graph', undefined))
    })
    return () => {
      stop()
      stopTools()
    }
  }

  /** Reads the devices of the home, if a tool lists them. Never rejects. */
  refresh(options: AskOptions = {}): Promise<void> {
    this.#reading ??= this.#refresh(options)
      .catch(error => this.#logger.debug({ error: describeThrown(error) }, 'The home could not be listed'))
      .finally(() => {
        this.#reading = undefined
      })
    return this.#reading
  }

  async ask(prompt: string | readonly ConversationMessage[], options: AskOptions = {}): Promise<Answer> {
    const question = questionIn(prompt)
    if (question.trim() === '') throw new ModelError('empty_question', 'The question is empty')
    this.#executorFor(options)
    const messages: ConversationMessage[] =
      typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : [...prompt]
    await this.load()
    const meaning = options.meaning ?? (await this.#understandNow(prompt, options)).meaning
    const answer = await this.#answer(meaning as Meaning | undefined, messages, {
      ...options,
      dialogue: dialogueIn(prompt),
    })
    if (answer.iterations > 0) harmless(options.onToken, this.#logger)(answer.text)
    return answer
  }

  /** Understands after reading the home, if it has to be known for that. */
  async #understandNow(
    prompt: string | readonly ConversationMessage[],
    options: AskOptions,
  ): Promise<Understood> {
    const understood = this.understand(prompt, options)
    const sentences = this.#loaded()
    if (!sentences.listing(this.#situation(options))) return understood
    const { tools } = this.#executorFor(options)
    const steps = (understood.meaning as Meaning | undefined)?.steps ?? []
    const isClear = steps.length > 0 && understood.free === 0
    const isLocal =
      isClear && steps.every(({ block }) => isLocalTool(tools.findTool(block.tool ?? ''), tools))
    const age = performance.now() - this.#readAt
    if (isLocal || (isClear && age < FRESH_MS) || age < RECENT_MS) return understood
    const refreshed = this.refresh(options)
    if (isClear && sentences.hasListing) return understood
    await refreshed
    return this.understand(prompt, options)
  }

  async #refresh(options: AskOptions): Promise<void> {
    await this.load()
    const sentences = this.#loaded()
    const call = sentences.listing(this.#situation(options))
    if (!call) return
    const executor = this.#executorFor(options)
    const tool = executor.tools.findTool(call.tool)
    const result = await executor.run(
      { id: `list_${crypto.randomUUID()}`, name: call.tool, args: call.args },
      {
        ...callerOptions(options),
        signal: options.signal,
        timeoutMs: LISTING_TIMEOUT_MS,
        ...(tool && { among: [tool] }),
      },
    )
    this.#readAt = performance.now()
    if (sentences.setListing(result)) this.#listeners.tell('graph', undefined)
  }

  async #answer(
    meaning: Meaning | undefined,
    messages: readonly ConversationMessage[],
    options: AskOptions & { dialogue: Dialogue | undefined },
  ): Promise<Answer> {
    const [sentences, situation] = [this.#loaded(), this.#situation(options)]
    const said: PlainMessage[] = []
    const results: ToolResult[] = []
    const limit = new TimeLimit({
      limitMs: options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
      signal: options.signal,
    })
    try {
      const { text, dialogue }: Answered = meaning
        ? await sentences.carryOut(meaning, situation, {
            dialogue: options.dialogue,
            run: async calls => {
              const made = await this.#call(calls, said, { ...options, signal: limit.signal })
              results.push(...made)
              return made
            },
          })
        : { text: sentences.help(situation), dialogue: {} }
      const isOutOfTime = limit.signal.reason instanceof TimeIsUp
      if (limit.signal.aborted && !isOutOfTime) throw limit.signal.reason
      return {
        text,
        messages: [...messages, ...said, { role: 'assistant', content: text, dialogue }],
        results,
        iterations: meaning && meaning.steps.length > 0 ? 1 : 0,
        stopReason: isOutOfTime ? 'time_limit' : 'answer',
      }
    } finally {
      limit.close()
    }
  }

  /** Runs calls in parallel and adds them to the messages. */
  async #call(
    planned: readonly { tool: string; args: Record<string, unknown> }[],
    said: PlainMessage[],
    options: AskOptions & { signal: AbortSignal },
  ): Promise<ToolResult[]> {
    const executor = this.#executorFor(options)
    const calls = planned.map(({ tool: name, args }) => ({ id: `call_${crypto.randomUUID()}`, name, args }))
    const outcomes = await runCalls(calls, {
      executor,
      tools: planned.flatMap(({ tool }) => executor.tools.findTool(tool) ?? []),
      signal: options.signal,
      onCall: harmless(options.onCall, this.#logger),
      ...callerOptions(options),
    })
    said.push({
      role: 'assistant',
      content: '',
      tool_calls: calls.map(made => ({ ...made, type: 'tool_call' })),
    })
    for (const [at, { content }] of outcomes.entries())
      said.push({ role: 'tool', content, tool_call_id: calls[at]?.id ?? '' })
    return outcomes.map(({ result }) => result)
  }

  #loaded(): Sentences {
    if (!this.#sentences) throw new Error('The sentences are not loaded yet: await load() first')
    return this.#sentences
  }

  #executorFor(options: AskOptions): ToolExecutor {
    const executor = options.executor ?? this.#executor
    if (!executor) throw new TypeError('ask needs an executor: pass one to the client or to ask()')
    return executor
  }

  #situation(options: AskOptions): Situation {
    const { tools: manager } = this.#executorFor(options)
    const tools = options.tools ?? manager.getTools()
    return {
      tools: tools.map(tool => ({
        name: tool.name,
        original: manager.originOf(tool)?.name,
        schema: tool.schema,
        sentences: tool.sentences,
        readOnly: tool.readOnly,
      })),
      files: tools.flatMap(filesOf),
    }
  }
}

/** The question: the text, or the last message of a conversation. */
function questionIn(prompt: string | readonly ConversationMessage[]): string {
  return typeof prompt === 'string' ? prompt : textOfContent(prompt.at(-1)?.content)
}

/** What the last answer left open, and what it was about. */
function dialogueIn(prompt: string | readonly ConversationMessage[]): Dialogue | undefined {
  if (typeof prompt === 'string') return undefined
  const last = prompt.findLast(message => roleOf(message) === 'assistant')
  return (last as PlainMessage | undefined)?.dialogue as Dialogue | undefined
}

/** The sentence files that a server sends with a tool. */
function filesOf({ name, passedOn }: Tool): SentenceFile[] {
  const files = (Object(passedOn?._meta) as Record<string, unknown>)[SENTENCES_META]
  return Object.entries(Object(files) as object).flatMap(([language, text]) =>
    typeof text === 'string' ? [{ name: `${name}/${language}.yaml`, text }] : [],
  )
}

function isLocalTool(tool: Tool | undefined, manager: ToolExecutor['tools']): boolean {
  return tool !== undefined && manager.originOf(tool) === undefined
}
