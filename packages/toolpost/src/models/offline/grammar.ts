import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { firstWords } from './first-words.ts'
import type { Home } from './home/home.ts'
import { homeLists } from './home/home-lists.ts'
import type { Lexicon } from './lexicon.ts'
import type { ListReader } from './lists.ts'
import { matchSentence, type Sentence, type SentenceMatch } from './match.ts'
import { hasNeeded, neededWords } from './needed-words.ts'
import type { Request } from './request.ts'
import type { SentenceBook } from './sentence-book.ts'
import { needsMore, type SpokenWords } from './spoken-words.ts'
import { vocabularyOf } from './vocabulary.ts'

/** A sentence that calls a tool. */
export interface ToolSentence {
  readonly sentence: Sentence
  readonly tool: Tool
}

/** A way in which a request can be understood. */
export interface Reading extends SentenceMatch, ToolSentence {}

export interface GrammarOptions {
  tools: readonly Tool[]
  manager: ToolManager
  book: SentenceBook
  /** Rules and lists that somebody has written down. */
  spoken: SpokenWords
  /** What is known about the home, if anything is. */
  home: Home | undefined
  /** The lists that tools have filled. */
  filled?: ReadonlyMap<string, ListReader>
}

/** Everything that can be understood now: the sentences of the tools, and the names that they refer to. */
export class Grammar {
  readonly sentences: readonly ToolSentence[]
  readonly lexicon: Lexicon
  readonly home: Home | undefined
  readonly tools: readonly Tool[]
  readonly filled: ReadonlyMap<string, ListReader>
  readonly #byName: ReadonlyMap<string, Tool>
  readonly #starts: ReadonlyMap<Sentence, ReadonlySet<string> | undefined>
  readonly #needed: ReadonlyMap<Sentence, readonly ReadonlySet<string>[]>

  constructor({ tools, manager, book, spoken, home, filled = new Map() }: GrammarOptions) {
    this.tools = [...tools]
    this.home = home
    this.filled = filled
    this.sentences = tools.flatMap(tool =>
      book
        .of(tool, { manager, home, spoken })
        .filter(({ nodes }) => spoken.sources.size === 0 || !needsMore(nodes, spoken, filled))
        .map(sentence => ({ sentence, tool })),
    )
    this.#byName = new Map(
      [...tools].reverse().map(tool => [manager.originOf(tool)?.name ?? tool.name, tool]),
    )
    const lists = new Map<string, ListReader>([...(home ? homeLists(home) : []), ...spoken.lists, ...filled])
    const words = vocabularyOf(this.sentences, spoken, { home, lists })
    this.lexicon = {
      rule: name => spoken.rules.get(name),
      list: name => lists.get(name),
      knows: word => words.has(word) || (home?.knows(word) ?? false),
    }
    const written = this.sentences.map(({ sentence }) => sentence)
    this.#starts = new Map(written.map(one => [one, firstWords(one.nodes, this.lexicon)]))
    this.#needed = new Map(written.map(one => [one, neededWords(one.nodes, this.lexicon)]))
  }

  /** A tool by the name that its server gave it. */
  tool(name: string): Tool | undefined {
    return this.#byName.get(name)
  }

  /** Whether a sentence can begin with any words, such as a name. */
  beginsWithAny(sentence: Sentence): boolean {
    return this.#starts.get(sentence) === undefined
  }

  /** Whether it begins with what is to be done: not with a name, nor with how something is. */
  beginsWithVerb(sentence: Sentence): boolean {
    const starts = this.#starts.get(sentence)
    return starts !== undefined && ![...starts].some(word => NO_VERBS.has(word))
  }

  /** The best way in which the whole of a request can be understood, if there is one. Never throws. */
  read(request: Request): Reading | undefined {
    let best: Reading | undefined
    for (const { sentence, tool } of this.sentences) {
      if (!this.#mayBe(sentence, request)) continue
      const match = matchSentence(sentence, request)
      if (match && (!best || match.score > best.score)) best = { ...match, sentence, tool }
    }
    return best
  }

  /** Whether it is worth the while to compare a sentence with a request. */
  #mayBe(sentence: Sentence, request: Request): boolean {
    const starts = this.#starts.get(sentence)
    if (starts && request.words.length > 0 && !request.isOneOf(0, starts)) return false
    return hasNeeded(request, this.#needed.get(sentence) ?? [])
  }
}

const NO_VERBS = new Set('it i a an the my our more less time what how volume brighter darker'.split(' '))
