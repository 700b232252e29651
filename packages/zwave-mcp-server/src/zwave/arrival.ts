export interface ArrivalOptions {
  /** After this long without a message, the retained ones count as received: MQTT does not mark their end. */
  readonly quietMs: number
  /** After this long the wait is over, whatever is missing. */
  readonly maxMs: number
  /** Whether something worth waiting for is still on its way. */
  readonly expectsMore: () => boolean
}

/** Tracks the state of the home arriving after a subscription, so that no tool answers from half of it. */
export class Arrival {
  readonly #options: ArrivalOptions
  #quietTimer: NodeJS.Timeout | undefined
  #maxTimer: NodeJS.Timeout | undefined
  #finish: () => void = () => {}
  #complete: Promise<void> = Promise.resolve()

  constructor(options: ArrivalOptions) {
    this.#options = options
  }

  /** Resolves once the state is in; immediately if nothing is expected. */
  get whenComplete(): Promise<void> {
    return this.#complete
  }

  begin(): void {
    this.complete()
    this.#complete = new Promise(resolve => {
      this.#finish = resolve
    })
    this.#maxTimer = setTimeout(() => this.complete(), this.#options.maxMs)
    this.heard()
  }

  /** A message came in. */
  heard(): void {
    if (!this.#maxTimer) return
    clearTimeout(this.#quietTimer)
    this.#quietTimer = setTimeout(() => this.#onQuiet(), this.#options.quietMs)
  }

  complete(): void {
    clearTimeout(this.#quietTimer)
    clearTimeout(this.#maxTimer)
    this.#maxTimer = undefined
    this.#finish()
  }

  #onQuiet(): void {
    if (this.#options.expectsMore()) this.heard()
    else this.complete()
  }
}
