import type { HeardSentence } from '../speech-to-text/transcriber.ts'
import { comparePhones, type PhoneDifference } from './phone-distance.ts'
import { saidWords } from './said-words.ts'
import { perWord } from './sentence-traits.ts'
import { END_PHONES, limitsFor, type Nearness, UNHEARD_END } from './thresholds.ts'

/** The free transcript as it sounds, to compare sentences with. */
export class HeardSound {
  readonly #score: number
  readonly #phones: readonly string[]
  readonly #phonesOf: (word: string) => readonly string[]
  /** The same sentences are compared several times. */
  readonly #differences = new Map<string, PhoneDifference>()

  constructor({ text, score }: HeardSentence, phonesOf: (word: string) => readonly string[]) {
    this.#score = score
    this.#phonesOf = phonesOf
    this.#phones = this.#phonesIn(text)
  }

  /** Whether a sentence is near enough, in likelihood and in sound. */
  isNear(sentence: HeardSentence, nearness: Nearness): boolean {
    const phones = this.#phonesIn(sentence.text)
    const limits = limitsFor(nearness, phones.length)
    const { distance, longestGap, worstPlace } = this.#difference(sentence)
    return (
      this.#score - sentence.score <= limits.mostBelowFree &&
      perWord(sentence) >= limits.leastPerWord &&
      distance <= limits.mostDistance &&
      longestGap <= limits.longestGap &&
      worstPlace <= (limits.worstPlace ?? Number.POSITIVE_INFINITY) &&
      Math.abs(this.#phones.length - phones.length) <= limits.mostLonger
    )
  }

  isNearer(sentence: HeardSentence, than: HeardSentence): boolean {
    return this.#difference(sentence).distance < this.#difference(than).distance
  }

  /** Whether both end with similar phones; if not, the last word was a different one. */
  endsLike(text: string): boolean {
    const [free, sentence] = [this.#phones, this.#phonesIn(text)]
    return comparePhones(free.slice(-END_PHONES), sentence.slice(-END_PHONES)).distance <= UNHEARD_END
  }

  #difference({ text }: HeardSentence): PhoneDifference {
    const difference = this.#differences.get(text) ?? comparePhones(this.#phones, this.#phonesIn(text))
    this.#differences.set(text, difference)
    return difference
  }

  #phonesIn(text: string): string[] {
    return saidWords(text).flatMap(word => this.#phonesOf(word))
  }
}
