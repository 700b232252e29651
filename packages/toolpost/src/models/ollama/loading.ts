import { type Clock, systemClock, type Timer } from '../../runtime/clock.ts'
import type { ModelStatus } from '../ai-client.ts'
import type { ReplyChunk } from '../provider.ts'

const TELL_EVERY_MS = 1_000

interface LoadingSetup {
  model: string
  /** Whether the model is in memory. */
  isLoaded: () => Promise<boolean | undefined>
  onStatus: (status: ModelStatus) => void
  /** Aborted with the question. */
  signal: AbortSignal
  clock?: Clock | undefined
}

/** Reports that a model is loading: it takes seconds to minutes, and nothing else shows it. */
export class Loading {
  readonly #setup: LoadingSetup
  readonly #clock: Clock
  readonly #startedAt: number
  #timer: Timer | undefined
  #isOver = false
  #isTold = false

  constructor(setup: LoadingSetup) {
    this.#setup = setup
    this.#clock = setup.clock ?? systemClock
    this.#startedAt = this.#clock.now()
    void this.#begin()
  }

  /** Passes the stream through; its first chunk ends the loading. */
  async *until(stream: AsyncIterable<ReplyChunk>): AsyncGenerator<ReplyChunk> {
    try {
      for await (const chunk of stream) {
        this.end('loaded')
        yield chunk
      }
    } finally {
      this.end()
    }
  }

  /** Reported only if it was loaded: a failure has its own message. */
  end(state?: 'loaded'): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#timer?.cancel()
    if (this.#isTold && state) this.#tell(state)
  }

  async #begin(): Promise<void> {
    if ((await this.#setup.isLoaded()) === false) this.#tick()
  }

  #tick(): void {
    if (this.#isOver || this.#setup.signal.aborted) return
    this.#isTold = true
    this.#tell('loading')
    this.#timer = this.#clock.setTimer(() => this.#tick(), TELL_EVERY_MS)
  }

  #tell(state: ModelStatus['state']): void {
    const { model, onStatus } = this.#setup
    onStatus({ state, model, elapsedMs: Math.round(this.#clock.now() - this.#startedAt) })
  }
}
