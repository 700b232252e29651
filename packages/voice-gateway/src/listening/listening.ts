import type { ConversationMessage, SentenceGraph } from 'toolpost/models'
import { yesOrNo } from '../conversation/spoken-question.ts'
import type { Transcriber } from '../speech-to-text/transcriber.ts'
import { decide, type Heard } from './decide.ts'
import type { Grammar } from './grammar.ts'
import { Pronunciation } from './pronunciation.ts'
import { saidWords } from './said-words.ts'
import { SoundAlikes, wordsOf } from './sound-alikes.ts'
import { unheardName } from './unheard-name.ts'

/** "Yes", "please don't", "not that one": an answer. Longer ones may be sentences: "turn" is easily heard as "don't". */
const BARE_ANSWER_WORDS = 3

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
    // In parallel with listening.
    const learned = this.#learn(graph)
    const listened = await this.#transcriber.listen(samples, { signal, graph, names })
    await learned
    const text = listened.text.trim()
    const answer = yesOrNo(text)
    if (text === '' || (answer !== undefined && saidWords(text).length <= BARE_ANSWER_WORDS))
      return { text, free_text: text, decision: 'free' }
    const understand = (said: string) => grammar.understand([...history, { role: 'user', content: said }])
    const heard = decide(
      { ...listened, text },
      {
        understand,
        phonesOf: word => this.#pronunciation.phonesOf(word),
        soundAlikes: said => this.#alikes(graph).of(said),
        isRefusal: answer === false,
      },
    )
    if (heard.decision !== 'free' || ['act', 'tell'].includes(understand(heard.text).kind)) return heard
    const name = unheardName(heard.text, grammar.unspeakable?.() ?? [], understand)
    if (name !== undefined) return { ...heard, unheardName: name }
    const { withNames = '' } = listened
    // If the name turns it into a sentence, that sentence was not what was heard.
    const isForModel = withNames !== '' && understand(withNames).kind === 'nothing'
    return isForModel ? { ...heard, text: withNames } : heard
  }

  #learn(graph: SentenceGraph): Promise<void> {
    if (this.#learned?.graph !== graph)
      this.#learned = { graph, done: this.#pronunciation.learn(wordsOf(graph)) }
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
