import type {
  Dialogue,
  Meaning,
  PlannedCall,
  SentenceGraph,
  Sentences,
  SentencesOptions,
  Situation,
} from 'toolpost-sentences'
import type { ToolResult } from '../call/tool-result.ts'
import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { SENTENCES_META, type Tool } from '../tools/tool.ts'
import { describeThrown } from '../util/quietly.ts'
import type { AiClient, Answer, AskOptions, ConversationMessage, PlainMessage, Prompt } from './ai-client.ts'
import { roleOf } from './conversation.ts'
import { DEFAULT_TIME_LIMIT_MS } from './limits.ts'
import { ModelError } from './model-error.ts'
import { textOfContent } from './read-reply.ts'
import { harmless, runCalls, timeLimit } from './tool-loop.ts'

/** `sentences` in the configuration. */
export type SentenceSettings = SentencesOptions

export interface OfflineClientOptions {
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

/** How long a list of the home's devices is good enough: for a clear request, and for any. */
const FRESH_MS = 60_000
const RECENT_MS = 2_000
const LISTING_TIMEOUT_MS = 5_000

/**
 * Answers without a model: a sentence matches the request, its tool runs, and the result is phrased. `toolpost-sentences` is
 * loaded with the first question, or by `load`. Its messages are plain objects that the other clients accept as history.
 */
export class OfflineClient implements AiClient {
  readonly #executor: ToolExecutor | undefined
  readonly #logger: Logger
  readonly #settings: SentenceSettings
  #sentences: Sentences | undefined
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor({ executor, sentences = {}, logger }: OfflineClientOptions = {}) {
    this.#executor = executor
    this.#settings = sentences
    this.#logger = quietLogger(logger)
  }

  /** Loads the sentences; `understand`, `graph` and `problems` need it first. */
  async load(): Promise<void> {
    const { Sentences: Loaded } = await import('toolpost-sentences')
    this.#sentences ??= new Loaded(this.#settings)
  }

  /** What a request means in its conversation. Makes no calls. */
  understand(prompt: Prompt, options: AskOptions = {}): Understood {
    const { sentences, situation } = this.#context(options)
    const about = { dialogue: dialogueIn(prompt), area: options.area }
    const meaning = sentences.understand(questionIn(prompt), situation, about)
    if (!meaning) return { kind: 'nothing', key: '', changes: false, free: 0 }
    const { kind, key, free, isGuess } = meaning
    return { kind, key, free, changes: kind === 'act', ...(isGuess && { isGuess }), meaning }
  }

  /** What is wrong with the sentence files and the tools' sentences. */
  problems(options: AskOptions = {}): string[] {
    const { sentences, situation } = this.#context(options)
    return sentences.problems(situation)
  }

  /** All sentences that can be understood now. Returns the same graph until that changes. */
  graph(options: AskOptions = {}): SentenceGraph {
    const { sentences, situation } = this.#context(options)
    return sentences.graph(situation)
  }

  /** Reads the devices of the home, if a tool lists them. Never rejects. */
  refresh(options: AskOptions = {}): Promise<void> {
    this.#reading ??= this.#readHome(options)
      .catch(error => this.#logger.debug({ error: describeThrown(error) }, 'The home could not be listed'))
      .finally(() => {
        this.#reading = undefined
      })
    return this.#reading
  }

  async #readHome(options: AskOptions): Promise<void> {
    await this.load()
    const { executor, sentences, situation } = this.#context(options)
    const call = sentences.listing(situation)
    if (!call) return
    const among = executor.tools.getTools().filter(({ name }) => name === call.tool)
    const listing = { id: `list_${crypto.randomUUID()}`, name: call.tool, args: call.args }
    const result = await executor.run(listing, { ...options, timeoutMs: LISTING_TIMEOUT_MS, among })
    if (result.success) this.#readAt = performance.now()
    sentences.setListing(result)
  }

  async ask(prompt: Prompt, options: AskOptions = {}): Promise<Answer> {
    if (questionIn(prompt).trim() === '') throw new ModelError('empty_question', 'The question is empty')
    await this.load()
    const meaning = (options.meaning as Meaning | undefined) ?? (await this.#understandNow(prompt, options))
    const { executor, sentences, situation } = this.#context(options)
    const messages: ConversationMessage[] =
      typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : [...prompt]
    const results: ToolResult[] = []
    const limit = timeLimit(options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS, options.signal)
    const setup = { ...options, executor, onCall: harmless(options.onCall, this.#logger) }
    const run = async (planned: readonly PlannedCall[]) => {
      const calls = planned.map(({ tool: name, args }) => {
        return { id: `call_${crypto.randomUUID()}`, name, args, type: 'tool_call' as const }
      })
      const among = calls.flatMap(({ name }) => executor.tools.findTool(name) ?? [])
      const outcomes = await runCalls(calls, setup, { signal: limit.signal, among })
      messages.push({ role: 'assistant', content: '', tool_calls: calls })
      for (const { call, content } of outcomes)
        messages.push({ role: 'tool', content, tool_call_id: call.id })
      const made = outcomes.map(({ result }) => result)
      results.push(...made)
      return made
    }
    try {
      const { text, dialogue } = meaning
        ? await sentences.carryOut(meaning, situation, { dialogue: dialogueIn(prompt), run })
        : { text: sentences.help(situation), dialogue: {} }
      if (!limit.isOver()) limit.signal.throwIfAborted()
      const iterations = meaning && meaning.steps.length > 0 ? 1 : 0
      if (iterations > 0) harmless(options.onToken, this.#logger)(text)
      messages.push({ role: 'assistant', content: text, dialogue })
      return { text, messages, results, iterations, stopReason: limit.isOver() ? 'time_limit' : 'answer' }
    } finally {
      limit.close()
    }
  }

  /** Understands after reading the home, if it has to be known for that. */
  async #understandNow(prompt: Prompt, options: AskOptions): Promise<Meaning | undefined> {
    const { executor, sentences, situation } = this.#context(options)
    const understand = () => this.understand(prompt, options).meaning as Meaning | undefined
    const meaning = understand()
    const age = performance.now() - this.#readAt
    if (age < RECENT_MS || !sentences.listing(situation)) return meaning
    const { steps = [], free } = meaning ?? {}
    const isClear = steps.length > 0 && free === 0
    const isLocal = steps.every(({ block }) => {
      const tool = executor.tools.findTool(block.tool ?? '')
      return tool && !executor.tools.originOf(tool)
    })
    if (isClear && (isLocal || age < FRESH_MS)) return meaning
    const refreshed = this.refresh(options)
    if (isClear && age < Infinity) return meaning
    await refreshed
    return understand()
  }

  #context(options: AskOptions) {
    const executor = options.executor ?? this.#executor
    if (!executor) throw new TypeError('ask needs an executor: pass one to the client or to ask()')
    if (!this.#sentences) throw new Error('The sentences are not loaded yet: await load() first')
    const given = options.tools ?? executor.tools.getTools()
    const tools = given.map(tool => {
      const { name, schema, sentences, readOnly } = tool
      return { name, original: executor.tools.originOf(tool)?.name, schema, sentences, readOnly }
    })
    const situation: Situation = { tools, files: given.flatMap(filesOf) }
    return { executor, sentences: this.#sentences, situation }
  }
}

function questionIn(prompt: Prompt): string {
  return typeof prompt === 'string' ? prompt : textOfContent(prompt.at(-1)?.content)
}

/** What the last answer left open, and what it was about. */
function dialogueIn(prompt: Prompt): Dialogue | undefined {
  if (typeof prompt === 'string') return undefined
  const last = prompt.findLast(message => roleOf(message) === 'assistant')
  return (last as PlainMessage | undefined)?.dialogue as Dialogue | undefined
}

function filesOf({ name, passedOn }: Tool) {
  const files = (Object(passedOn?._meta) as Record<string, unknown>)[SENTENCES_META]
  return Object.entries(Object(files) as object).flatMap(([language, text]) =>
    typeof text === 'string' ? [{ name: `${name}/${language}.yaml`, text }] : [],
  )
}
