import type { Transcriber } from '../speech-to-text/transcriber.ts'
import type { Turn } from './turn.ts'
import { type Understood, understand } from './understand.ts'

/** What was said, why there is nothing to ask, or what went wrong. */
export type Heard = Understood | { failure: unknown }

/** Understands one utterance after the other, also while an earlier one is still being answered. */
export class Ears {
  readonly #transcriber: Transcriber
  readonly #signal: AbortSignal
  #previous: Promise<unknown> = Promise.resolve()

  constructor(transcriber: Transcriber, signal: AbortSignal) {
    this.#transcriber = transcriber
    this.#signal = signal
  }

  /** Never rejects. */
  hear(turn: Turn): Promise<Heard> {
    const heard = this.#previous.then(() => this.#understand(turn))
    this.#previous = heard
    return heard
  }

  async #understand(turn: Turn): Promise<Heard> {
    const work = () => understand(turn.utterance, this.#transcriber, this.#signal)
    try {
      return turn.source === 'audio' ? await turn.timed('transcribeMs', work) : await work()
    } catch (failure) {
      return { failure }
    }
  }
}
