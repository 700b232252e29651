import type { ToolExecutor } from '../../executor/executor.ts'
import type { Logger } from '../../logging/logger.ts'
import { quietLogger } from '../../logging/quiet-logger.ts'
import { Listeners } from '../../runtime/listeners.ts'
import { describeThrown } from '../../runtime/quietly.ts'
import type { Tool } from '../../tools/tool.ts'
import type { AiClient, Answer, AskOptions, ConversationMessage } from '../ai-client.ts'
import { harmless } from '../listener.ts'
import { ModelError } from '../model-error.ts'
import { carryOut, onlySaid } from './carry-out.ts'
import { questionIn, soFar } from './conversation-so-far.ts'
import { Grammar } from './grammar.ts'
import type { Home } from './home/home.ts'
import { unspeakableNames } from './home/spoken-names.ts'
import { knownHome } from './known-home.ts'
import type { Listing } from './listing.ts'
import { listWords, type Meaning, type PlannedCall } from './meaning.ts'
import { isNegative } from './negation.ts'
import { requestOf } from './request.ts'
import { SentenceBook } from './sentence-book.ts'
import type { SentenceGraph } from './sentence-graph.ts'
import { readSettings, type SentenceSettings, type SpokenWords } from './spoken-words.ts'
import { suggest } from './suggestions.ts'
import { ToolLists } from './tool-lists.ts'
import { understand } from './understand.ts'
import { graphOf } from './word-graph.ts'

export interface OfflineClientOptions {
  /** Runs the calls; can also be passed with each question. */
  executor?: ToolExecutor | undefined
  logger?: Logger | undefined
  /** Rooms, groups, other names, rules and lists that sentences refer to. */
  sentences?: SentenceSettings | undefined
}

/** The first call of a request that a tool can fulfil. */
export interface ToolMatch extends PlannedCall {
  /** 0 to 1: how much of the request the sentence accounts for. */
  score: number
  /** The most unknown words in one argument. */
  longestFree: number
  template: string
}

/** What a request means, found out without doing anything. */
export interface Understood {
  /**
   * `act`: calls that change something; `tell`: calls that only read; `ask`: would ask what is meant; `talk`: answers
   * without a call; `nothing`: not understood.
   */
  kind: Meaning['kind'] | 'nothing'
  /** Equal for requests with the same meaning; empty if not understood. */
  key: string
  changes: boolean
  /** No sentence fits, so it is only a guess: any question may be one for the notes. */
  isGuess?: boolean
}

const KEPT_GRAMMARS = 4

/**
 * Answers without a model: a tool's sentence matches the request, the tool runs, and its result is phrased. Does not
 * load LangChain; its messages are plain objects that the other clients accept as history.
 */
export class OfflineClient implements AiClient {
  readonly #executor: ToolExecutor | undefined
  readonly #logger: Logger
  readonly #book: SentenceBook
  readonly #spoken: SpokenWords
  readonly #home: Listing<Home>
  readonly #lists: ToolLists
  readonly #listeners: Listeners<{ graph: undefined }>
  #grammars: Grammar[] = []
  #graph: { grammar: Grammar; graph: SentenceGraph } | undefined

  constructor({ executor, sentences, ...options }: OfflineClientOptions = {}) {
    const logger = quietLogger(options.logger)
    this.#executor = executor
    this.#logger = logger
    this.#book = new SentenceBook(logger)
    this.#spoken = readSettings(sentences)
    for (const reason of this.#spoken.problems)
      logger.warn({ reason: `The ${reason}` }, 'Skipped a sentence rule')
    this.#listeners = new Listeners((_, error) =>
      logger.warn({ error: describeThrown(error) }, 'A listener for changed sentences failed'),
    )
    const changed = () => this.#listeners.tell('graph', undefined)
    this.#home = knownHome(this.#spoken.home, changed)
    this.#lists = new ToolLists(this.#spoken.sources, changed)
  }

  /** The first call that a request would make, if a sentence matches it. */
  match(prompt: string | readonly ConversationMessage[], options: AskOptions = {}): ToolMatch | undefined {
    const meaning = this.#meaning(prompt, options)
    const [call] = meaning?.calls ?? []
    if (!meaning || !call) return undefined
    const { score, longestFree, template } = meaning
    return { ...call, score, longestFree, template }
  }

  /** What a request means in its conversation. Makes no calls. */
  understand(prompt: string | readonly ConversationMessage[], options: AskOptions = {}): Understood {
    const meaning = this.#meaning(prompt, options)
    if (!meaning) return { kind: 'nothing', key: '', changes: false }
    const { kind, key, isGuess } = meaning
    return { kind, key, changes: kind === 'act', ...(isGuess && { isGuess }) }
  }

  /** Reads the home and the lists filled by tools. Never rejects. */
  async refresh(options: AskOptions = {}): Promise<void> {
    const [tools, executor] = [this.#tools(options), this.#executorFor(options)]
    await Promise.all([this.#home, this.#lists].map(source => source.read(tools, executor, options)))
  }

  /** All sentences that can be understood now. Returns the same graph until that changes. */
  graph(options: AskOptions = {}): SentenceGraph {
    const grammar = this.#grammar(options)
    if (this.#graph?.grammar !== grammar) this.#graph = { grammar, graph: graphOf(grammar) }
    return this.#graph.graph
  }

  /** Devices and scenes that cannot be spoken, because their names have letters that English lacks. */
  unspeakable(options: AskOptions = {}): readonly string[] {
    const { home } = this.#grammar(options)
    return home ? unspeakableNames(home) : []
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

  async ask(prompt: string | readonly ConversationMessage[], options: AskOptions = {}): Promise<Answer> {
    const question = questionIn(prompt)
    if (question.trim() === '') throw new ModelError('empty_question', 'The question is empty')
    const messages: ConversationMessage[] =
      typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : [...prompt]
    const meaning = await this.#meaningNow(prompt, options)
    const answer = meaning
      ? await carryOut(meaning, messages, {
          ...options,
          executor: this.#executorFor(options),
          logger: this.#logger,
        })
      : onlySaid(this.#helpFor(question, options), messages)
    if (answer.iterations > 0) harmless(options.onToken, this.#logger)(answer.text)
    return answer
  }

  #meaning(prompt: string | readonly ConversationMessage[], options: AskOptions): Meaning | undefined {
    return understand(questionIn(prompt), soFar(prompt), this.#grammar(options))
  }

  /** The same, after refreshing the home if that is needed to understand it. */
  async #meaningNow(
    prompt: string | readonly ConversationMessage[],
    options: AskOptions,
  ): Promise<Meaning | undefined> {
    const meaning = this.#meaning(prompt, options)
    const [tools, executor] = [this.#tools(options), this.#executorFor(options)]
    const isKnown = this.#home.of(tools, executor) !== undefined
    const isClear = meaning !== undefined && meaning.calls.length > 0 && !meaning.isGuess
    const isOld = (ageMs?: number) =>
      [this.#home, this.#lists].some(source => source.isOld(tools, executor, ageMs))
    const isLocal = isClear && meaning.calls.every(({ tool }) => executor.tools.originOf(tool) === undefined)
    // A request that needs no server's list does not wait for one.
    if (isLocal && this.#spoken.sources.size === 0) return meaning
    if (isClear && (isKnown || isLocal)) {
      if (isOld()) void this.refresh(options)
      return meaning
    }
    if (!isOld(RECENT_MS)) return meaning
    await this.refresh(options)
    return this.#meaning(prompt, options)
  }

  #executorFor(options: AskOptions): ToolExecutor {
    const executor = options.executor ?? this.#executor
    if (!executor) throw new TypeError('ask needs an executor: pass one to the client or to ask()')
    return executor
  }

  #tools(options: AskOptions): readonly Tool[] {
    return options.tools ?? this.#executorFor(options).tools.getTools()
  }

  /** The grammar for these tools in this home. */
  #grammar(options: AskOptions): Grammar {
    const executor = this.#executorFor(options)
    const tools = this.#tools(options)
    const home = this.#home.of(tools, executor)
    const filled = this.#lists.of(tools, executor)
    const known = this.#grammars.find(
      grammar =>
        grammar.home === home &&
        isSame(grammar.tools, tools) &&
        isSame([...grammar.filled.values()], [...filled.values()]),
    )
    if (known) return known
    const grammar = new Grammar({
      tools,
      manager: executor.tools,
      book: this.#book,
      spoken: this.#spoken,
      home,
      filled,
    })
    this.#grammars = [grammar, ...this.#grammars].slice(0, KEPT_GRAMMARS)
    return grammar
  }

  #helpFor(question: string, options: AskOptions): string {
    const manager = this.#executorFor(options).tools
    const byTool = this.#tools(options).map(tool =>
      this.#book
        .of(tool, { manager, spoken: this.#spoken })
        .filter(({ means, isTyped }) => means === undefined && !isTyped),
    )
    if (byTool.flat().length === 0) return 'I did not understand that, and no tool here has any sentences.'
    const { home, lexicon } = this.#grammar(options)
    const request = requestOf(question, { lexicon })
    if (request && isNegative(request)) return 'I did not understand that, so I did nothing.'
    const examples = suggest(request, byTool, home)
    if (examples.length === 0) return 'I did not understand that. Ask me what I can do.'
    const quoted = examples.map(example => `"${example}"`)
    return `I did not understand that. You can say ${listWords(quoted, 'or')}.`
  }
}

/** An unknown name may have been added since; it is looked up again, but not with every question. */
const RECENT_MS = 2_000

function isSame(known: readonly unknown[], now: readonly unknown[]): boolean {
  return known.length === now.length && known.every((one, at) => one === now[at])
}
