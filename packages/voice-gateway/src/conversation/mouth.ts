import type { Logger } from 'toolpost'
import type { Speaker } from '../speech-out/speaker.ts'
import { SpokenAnswer } from '../speech-out/spoken-answer.ts'

interface MouthOptions {
  speaker: Speaker | undefined
  logger: Logger
  /** Told that it cannot speak: once, until it can again. */
  onProblem(problem: string): void
}

/** Speaks one answer after the other. */
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

  /** From here on it is another answer. */
  begin(): void {
    this.#spoken = this.#begun()
  }

  /** The next piece of the answer. */
  add(text: string): void {
    if (text.trim() !== '') this.#hasWords = true
    this.#spoken.add(text)
  }

  /** Something to pass the time until the answer comes. */
  fill(sentence: string): void {
    this.#spoken.say(sentence)
  }

  /** A sentence that has to be heard, whatever was interrupted before. */
  insist(sentence: string): void {
    this.resume()
    this.add(`\n${sentence}\n`)
  }

  /** What comes now is heard, whatever was interrupted before. */
  resume(): void {
    if (this.#interruption.signal.aborted) this.begin()
  }

  /** Ends what is being said. An answer that is still to come is no interruption's business. */
  interrupt(): void {
    if (this.#hasWords) this.shut()
  }

  /** Nothing more is said, now and of this answer. */
  shut(): void {
    this.#interruption.abort()
  }

  /** Resolves when everything was heard, or interrupted. */
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
