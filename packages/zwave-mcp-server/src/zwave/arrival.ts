export interface ArrivalOptions {
  /** Without a message for so long, the retained ones are taken to be in: MQTT has no mark for their end. */
  readonly quietMs: number
  /** After so long it is over, whatever is missing. */
  readonly maxMs: number
  /** Whether something is still on its way that is worth waiting for. */
  readonly expectsMore: () => boolean
}

/** Follows how the state of the home comes in after a subscription, so that no tool answers from half of it. */
export class Arrival {
  readonly #options: ArrivalOptions
  #quietTimer: NodeJS.Timeout | undefined
  #maxTimer: NodeJS.Timeout | undefined
  #finish: () => void = () => {}
  #complete: Promise<void> = Promise.resolve()

  constructor(options: ArrivalOptions) {
    this.#options = options
  }

  /** Resolves when the state is in; at once if nothing is awaited. */
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
