import type { HeardSentence } from '../speech-to-text/transcriber.ts'
import type { Meaning } from './grammar.ts'
import { isPlausible, isTwo, lettersOf } from './sentence-traits.ts'
import { LESS_LIKELY_IF_TWO, WIDEST_MARGIN } from './thresholds.ts'

export type Candidate = HeardSentence & Meaning

/** The sentences that may have been said, likeliest first. Understanding is slow, so it is done only as needed. */
export class Candidates {
  /** Whether the free transcript is a sentence of the graph, word for word. */
  readonly hasFree: boolean
  readonly #sentences: readonly HeardSentence[]
  readonly #understand: (text: string) => Meaning
  readonly #understood: Candidate[] = []

  constructor(
    sentences: readonly HeardSentence[],
    { freeText, understand }: { freeText: string; understand(text: string): Meaning },
  ) {
    const written = lettersOf(freeText)
    const isFree = ({ text }: HeardSentence) => lettersOf(text) === written
    this.hasFree = sentences.some(isFree)
    this.#understand = understand
    this.#sentences = sentences
      .filter(sentence => isFree(sentence) || isPlausible(sentence.text))
      .map(({ text, score }) => ({ text, score: isTwo(text) ? score - LESS_LIKELY_IF_TWO : score }))
      .sort((a, b) => b.score - a.score)
  }

  get best(): Candidate | undefined {
    return this.#at(0)
  }

  find(isWanted: (candidate: Candidate) => boolean): Candidate | undefined {
    for (let index = 0; index < this.#sentences.length; index++) {
      const candidate = this.#at(index)
      if (candidate && isWanted(candidate)) return candidate
    }
    return undefined
  }

  /** The candidates less than this many nats below a given one. */
  within(nats: number, { score: best }: Candidate): Candidate[] {
    return this.#sentences.flatMap(({ score }, index) => (best - score < nats ? (this.#at(index) ?? []) : []))
  }

  /** The next sentence that means something else; far less likely ones need not be understood. */
  besides(best: Candidate): Candidate | undefined {
    return this.find(
      ({ key, kind, score }) => best.score - score >= WIDEST_MARGIN || key !== best.key || kind !== best.kind,
    )
  }

  /** How much likelier a candidate is than the next that means something else. */
  margin(best: Candidate): number {
    const other = this.besides(best)
    return Math.min(WIDEST_MARGIN, other ? best.score - other.score : WIDEST_MARGIN)
  }

  #at(index: number): Candidate | undefined {
    const sentence = this.#sentences[index]
    if (!sentence) return undefined
    this.#understood[index] ??= { ...sentence, ...this.#understand(sentence.text) }
    return this.#understood[index]
  }
}
