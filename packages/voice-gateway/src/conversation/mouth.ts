import type { Logger } from 'toolpost'
import type { Speaker } from '../speech-out/speaker.ts'
import { SpokenAnswer } from '../speech-out/spoken-answer.ts'

/** Speaks one answer at a time. That it cannot speak is said once, until it can again. */
export class Mouth {
  readonly #speaker: Speaker | undefined
  readonly #logger: Logger
  #interruption = new AbortController()
  #hasFailed = false
  #isBroken = false

  constructor(speaker: Speaker | undefined, logger: Logger) {
    this.#speaker = speaker
    this.#logger = logger
  }

  open(): SpokenAnswer {
    this.#interruption = new AbortController()
    this.#hasFailed = false
    return new SpokenAnswer({
      speaker: this.#speaker,
      signal: this.#interruption.signal,
      onProblem: error => this.#report(error),
    })
  }

  /** Nothing more of the present answer is spoken. */
  shut(): void {
    this.#interruption.abort()
  }

  /** Resolves when everything was heard, or interrupted. */
  async finish(spoken: SpokenAnswer): Promise<void> {
    await spoken.end()
    if (spoken.firstSoundMs !== undefined && !this.#hasFailed) this.#isBroken = false
  }

  #report(error: unknown): void {
    this.#hasFailed = true
    if (this.#isBroken) return
    this.#isBroken = true
    const said = error instanceof Error ? error.message : String(error)
    this.#logger.warn({ error: said }, 'Cannot speak, so answers are text only')
  }
}
