import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ConversationMessage, SentenceGraph } from 'toolpost/models'
import { yesOrNo } from '../conversation/spoken-question.ts'
import type { Listened, Transcriber } from '../speech-to-text/transcriber.ts'
import { decide } from './decide.ts'
import type { Grammar, Meaning } from './grammar.ts'
import type { Decision, Heard } from './heard.ts'
import { HeardSound } from './heard-sound.ts'
import { Pronunciation } from './pronunciation.ts'
import { saidWords } from './said-words.ts'
import { doesSomething } from './sentence-traits.ts'
import { SoundAlikes, wordsOf } from './sound-alikes.ts'
import { HEARD_WELL } from './thresholds.ts'
import { unheardName } from './unheard-name.ts'

/** "Yes", "please don't", "not that one": an answer. Longer ones may be sentences: "turn" is easily heard as "don't". */
const BARE_ANSWER_WORDS = 3

/** Decisions that need no second look. */
const CLEAR: ReadonlySet<Decision> = new Set(['exact', 'sentence'])

const MISHEARD = [
  'Turn of the leaving room like.',
  'Sit the hallway to thirsty per cent.',
  'What is the thyme in hear?',
]
const REHEARSED = [
  'turn off the living room light',
  'set the hallway to thirty percent',
  'what is the time in here',
]

interface ListeningOptions {
  transcriber: Transcriber
  /** The sentences that can currently be understood, if any. */
  grammar?: (() => Promise<Grammar | undefined>) | undefined
  /** Names that may be said to a model although no sentence has them. */
  hotwords?: (() => Promise<readonly string[]>) | undefined
}

interface HearOptions {
  signal?: AbortSignal | undefined
  /** Earlier messages of the conversation: they say what "it" refers to. */
  history?: readonly ConversationMessage[] | undefined
}

/** What was heard; without a grammar, just the text. */
export type HeardSpeech = Pick<Heard, 'text'> &
  Partial<Heard> & {
    /** Set if it was not understood and may have been this name, which speech recognition cannot produce. */
    unheardName?: string
  }

/** Transcribes with the help of the sentences that can be understood, and decides what was said. */
export class Listening {
  readonly #transcriber: Transcriber
  readonly #grammar: () => Promise<Grammar | undefined>
  readonly #hotwords: () => Promise<readonly string[]>
  readonly #pronunciation = new Pronunciation()
  #soundAlikes: { graph: SentenceGraph; alikes: SoundAlikes } | undefined
  #learned: { graph: SentenceGraph; done: Promise<void> } | undefined

  constructor({ transcriber, grammar, hotwords }: ListeningOptions) {
    this.#transcriber = transcriber
    this.#grammar = grammar ?? (async () => undefined)
    this.#hotwords = hotwords ?? (async () => [])
  }

  /** Rejects with a TranscriberError. */
  async hear(samples: Float32Array, { signal, history = [] }: HearOptions = {}): Promise<HeardSpeech> {
    const grammar = this.#transcriber.listen && (await this.#grammar())
    const names = await this.#hotwords()
    if (!grammar || !this.#transcriber.listen)
      return { text: (await this.#transcriber.transcribe(samples, { signal, names })).trim() }
    const graph = grammar.graph()
    const understand = remembered(
      (content: string) => grammar.understand([...history, { role: 'user', content }]),
      content => content,
    )
    // The hearing that ends the search has been judged already.
    const judge = remembered((listened: Listened) => this.#judge(listened, graph, understand), JSON.stringify)
    const judged: Heard[] = []
    const isClear = (listened: Listened) => {
      const heard = judge(listened)
      judged.push(heard)
      if (isAnswer(heard.text)) return true
      const meaning = understand(heard.text)
      // A change that does not sound like what was heard must be heard twice.
      const isEnough = judged.length > 1 || !meaning.changes || this.#isHeardWell(heard)
      return isEnough && CLEAR.has(heard.decision) && doesSomething(meaning)
    }
    // In parallel with listening.
    const learned = this.#learn(graph, judge)
    const listened = await this.#transcriber.listen(samples, { signal, graph, names, isClear })
    await learned
    const heard = agreed(judge(listened), judged, understand)
    if (isAnswer(heard.text) || heard.decision !== 'free' || doesSomething(understand(heard.text)))
      return heard
    const name = unheardName(heard.text, grammar.unspeakable?.() ?? [], understand)
    return name === undefined ? withNames(heard, listened, understand) : { ...heard, unheardName: name }
  }

  #judge(listened: Listened, graph: SentenceGraph, understand: (text: string) => Meaning): Heard {
    const text = listened.text.trim()
    if (isAnswer(text)) return { text, free_text: text, decision: 'free' }
    return decide(
      { ...listened, text },
      {
        understand,
        phonesOf: word => this.#pronunciation.phonesOf(word),
        soundAlikes: said => this.#alikes(graph).of(said),
        isRefusal: yesOrNo(text) === false,
      },
    )
  }

  #isHeardWell({ text, free_text: free }: Heard): boolean {
    const sound = new HeardSound({ text: free, score: 0 }, word => this.#pronunciation.phonesOf(word))
    return sound.isNear({ text, score: 0 }, HEARD_WELL)
  }

  #learn(graph: SentenceGraph, judge: (listened: Listened) => unknown): Promise<void> {
    if (this.#learned?.graph !== graph) {
      const done = this.#pronunciation.learn(wordsOf(graph))
      this.#learned = { graph, done }
      done.then(() => rehearse(judge)).catch(() => {})
    }
    return this.#learned.done
  }

  #alikes(graph: SentenceGraph): SoundAlikes {
    if (this.#soundAlikes?.graph !== graph) {
      const phonesOf = (word: string) => this.#pronunciation.phonesOf(word)
      this.#soundAlikes = { graph, alikes: new SoundAlikes(graph, phonesOf) }
    }
    return this.#soundAlikes.alikes
  }
}

/** The first judgements of a process take ten times as long as later ones: they are made before anybody waits. */
async function rehearse(judge: (listened: Listened) => unknown): Promise<void> {
  const sentences = REHEARSED.map((text, at) => ({ text, score: -4 - at }))
  for (const text of MISHEARD) {
    judge({ text, score: -3, sentences })
    await nextTurn()
  }
}

/** Nothing, or a bare yes or no. */
function isAnswer(text: string): boolean {
  const words = saidWords(text)
  return words.length === 0 || (words.length <= BARE_ANSWER_WORDS && yesOrNo(text) !== undefined)
}

/** If hearings differ in their meaning, a change that was not heard verbatim is asked about. */
function agreed(heard: Heard, judged: readonly Heard[], understand: (text: string) => Meaning): Heard {
  const { key, changes } = understand(heard.text)
  if (heard.decision !== 'sentence' || !changes) return heard
  const isOther = ({ text, decision }: Heard) => {
    const meaning = understand(text)
    return decision !== 'free' && doesSomething(meaning) && meaning.key !== key
  }
  return judged.some(isOther) ? { ...heard, decision: 'ask' } : heard
}

/** For a model: the text with names, unless a name turns it into a sentence, which was not what was heard. */
function withNames(
  heard: Heard,
  { withNames: text }: Listened,
  understand: (text: string) => Meaning,
): Heard {
  return text && understand(text).kind === 'nothing' ? { ...heard, text } : heard
}

/** Understanding takes milliseconds, and the same texts come up again. */
function remembered<In, Out>(work: (input: In) => Out, keyOf: (input: In) => string): (input: In) => Out {
  const known = new Map<string, Out>()
  return input => {
    const key = keyOf(input)
    const output = known.get(key) ?? work(input)
    known.set(key, output)
    return output
  }
}
