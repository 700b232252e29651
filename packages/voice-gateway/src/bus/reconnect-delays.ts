const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 10_000

/** How long to wait before each further attempt: longer and longer, and not all clients at the same moment. */
export class ReconnectDelays {
  readonly #random: () => number
  #attempts = 0

  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  next(): number {
    const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#attempts)
    this.#attempts += 1
    return delayMs * (0.5 + this.#random() / 2)
  }

  reset(): void {
    this.#attempts = 0
  }
}
