import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { firstWords } from './first-words.ts'
import type { Home } from './home/home.ts'
import { homeLists } from './home/home-lists.ts'
import { isReference } from './home/reference.ts'
import type { Lexicon } from './lexicon.ts'
import type { ListReader } from './lists.ts'
import { matchSentence, type Sentence, type SentenceMatch } from './match.ts'
import { hasNeeded, neededWords } from './needed-words.ts'
import type { Request } from './request.ts'
import type { SentenceBook } from './sentence-book.ts'
import { needsMore, type SpokenWords } from './spoken-words.ts'
import { vocabularyOf } from './vocabulary.ts'
import { wordSet } from './words.ts'

/** A sentence that calls a tool. */
export interface ToolSentence {
  readonly sentence: Sentence
  readonly tool: Tool
}

/** One interpretation of a request. */
export interface Reading extends SentenceMatch, ToolSentence {}

export interface GrammarOptions {
  tools: readonly Tool[]
  manager: ToolManager
  book: SentenceBook
  /** Rules and lists from the configuration. */
  spoken: SpokenWords
  /** What is known about the home, if anything. */
  home: Home | undefined
  /** The lists filled by tools. */
  filled?: ReadonlyMap<string, ListReader>
}

/** Everything that can be understood now: the tools' sentences, and the names they refer to. */
export class Grammar {
  readonly sentences: readonly ToolSentence[]
  readonly lexicon: Lexicon
  readonly home: Home | undefined
  readonly tools: readonly Tool[]
  readonly filled: ReadonlyMap<string, ListReader>
  readonly #byName: ReadonlyMap<string, Tool>
  /** Computed lazily: most sentences are never compared. */
  readonly #starts = new Map<Sentence, ReadonlySet<string> | undefined>()
  readonly #needed = new Map<Sentence, readonly ReadonlySet<string>[]>()

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
    // Collected when a request is first compared: the graph does not need it.
    let words: ReadonlySet<string> | undefined
    const vocabulary = () => {
      words ??= vocabularyOf(this.sentences, spoken, { home, lists })
      return words
    }
    this.lexicon = {
      rule: name => spoken.rules.get(name),
      list: name => lists.get(name),
      knows: word => vocabulary().has(word) || (home?.knows(word) ?? false),
    }
  }

  /** A tool by its name on its server. */
  tool(name: string): Tool | undefined {
    return this.#byName.get(name)
  }

  /** Whether a sentence can begin with arbitrary words, such as a name. */
  beginsWithAny(sentence: Sentence): boolean {
    return this.#startsOf(sentence) === undefined
  }

  /** Whether a sentence begins with a verb, not with a name or a description. */
  beginsWithVerb(sentence: Sentence): boolean {
    const starts = this.#startsOf(sentence)
    return starts !== undefined && ![...starts].some(word => NO_VERBS.has(word))
  }

  /** The best reading of the whole request, if there is one. Never throws. */
  read(request: Request): Reading | undefined {
    let best: Reading | undefined
    for (const { sentence, tool } of this.sentences) {
      if (!this.#mayBe(sentence, request)) continue
      const match = matchSentence(sentence, request)
      const reading = match && { ...match, sentence, tool }
      if (reading && (!best || isBetter(reading, best, request))) best = reading
    }
    return best
  }

  /** Whether a sentence is worth comparing with a request. */
  #mayBe(sentence: Sentence, request: Request): boolean {
    const starts = this.#startsOf(sentence)
    if (starts && request.words.length > 0 && !request.isOneOf(0, starts)) return false
    return hasNeeded(request, this.#neededBy(sentence))
  }

  #startsOf(sentence: Sentence): ReadonlySet<string> | undefined {
    if (!this.#starts.has(sentence)) this.#starts.set(sentence, firstWords(sentence.nodes, this.lexicon))
    return this.#starts.get(sentence)
  }

  #neededBy(sentence: Sentence): readonly ReadonlySet<string>[] {
    const needed = this.#needed.get(sentence) ?? neededWords(sentence.nodes, this.lexicon)
    this.#needed.set(sentence, needed)
    return needed
  }
}

/** On a tie, a command beats a bare name: "lock" is a verb first. Next, "turn it up" refers to what was mentioned last. */
function isBetter(reading: Reading, best: Reading, request: Request): boolean {
  if (reading.score !== best.score) return reading.score > best.score
  if (best.sentence.means === 'named') return true
  const [it, sound] = request.mentioned.isSound ? [best, reading] : [reading, best]
  return isStepOfDevice(it) && isStepOfSound(sound)
}

function isStepOfDevice({ args, sentence }: Reading): boolean {
  return sentence.means === 'step' && isReference(args.deviceName)
}

function isStepOfSound({ args, sentence }: Reading): boolean {
  return sentence.means === 'step' && args.deviceName === undefined
}

const NO_VERBS = wordSet('it i a an the my our more less time what how volume brighter darker')
