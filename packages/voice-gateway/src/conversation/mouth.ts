import type { Logger } from 'toolpost'
import type { Speaker } from '../speech-out/speaker.ts'
import { SpokenAnswer } from '../speech-out/spoken-answer.ts'

interface MouthOptions {
  speaker: Speaker | undefined
  logger: Logger
  /** Called when it cannot speak: once, until it can again. */
  onProblem(problem: string): void
}

/** Speaks one answer after another. */
export class Mouth {
  readonly #options: MouthOptions
  #interruption = new AbortController()
  #spoken: SpokenAnswer
  #hasWords = false
  #hasFailed = false
  #isBroken = false

  constructor(options: MouthOptions) {
    this.#options = options
    this.#spoken = this.#begun()
  }

  /** Starts a new answer. */
  begin(): void {
    this.#spoken = this.#begun()
  }

  /** The next piece of the answer. */
  add(text: string): void {
    if (text.trim() !== '') this.#hasWords = true
    this.#spoken.add(text)
  }

  /** A filler while the answer is being made. */
  fill(sentence: string): void {
    this.#spoken.say(sentence)
  }

  /** A sentence that must be heard, whatever was interrupted before. */
  insist(sentence: string): void {
    this.resume()
    this.add(`\n${sentence}\n`)
  }

  /** Speaks what follows, even after an interruption. */
  resume(): void {
    if (this.#interruption.signal.aborted) this.begin()
  }

  /** Stops what is being said. Does not affect an answer that has not begun. */
  interrupt(): void {
    if (this.#hasWords) this.shut()
  }

  /** Stops speaking, including the rest of this answer. */
  shut(): void {
    this.#interruption.abort()
  }

  /** Resolves when everything was spoken, or interrupted. */
  async finish(): Promise<void> {
    await this.#spoken.end()
    if (this.#spoken.hasBegun && !this.#hasFailed) this.#isBroken = false
    this.#hasWords = false
  }

  #begun(): SpokenAnswer {
    this.#interruption = new AbortController()
    this.#hasWords = false
    this.#hasFailed = false
    const { signal } = this.#interruption
    return new SpokenAnswer({
      speaker: this.#options.speaker,
      signal,
      onProblem: error => this.#report(error),
    })
  }

  #report(error: unknown): void {
    this.#hasFailed = true
    if (this.#isBroken) return
    this.#isBroken = true
    const reason = error instanceof Error ? error.message : String(error)
    this.#options.logger.warn({ error: reason }, 'Cannot speak, so answers are text only')
    this.#options.onProblem(`Cannot speak, so answers are text only: ${reason}`)
  }
}
