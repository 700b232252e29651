import type { Clock } from 'toolpost'

const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 60_000

/** Prevents a restart loop: one failure is forgiven, further ones delay the next start. */
export class RestartGuard {
  readonly #clock: Clock
  #failures = 0
  #notBeforeMs = 0
  #reason = ''

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get failures(): number {
    return this.#failures
  }

  succeeded(): void {
    this.#failures = 0
    this.#notBeforeMs = 0
  }

  failed(reason: string): void {
    this.#failures++
    this.#reason = reason
    const delayMs =
      this.#failures < 2 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (this.#failures - 2), LONGEST_DELAY_MS)
    this.#notBeforeMs = this.#clock.now() + delayMs
  }

  /** Why it may not be started now; undefined if it may. */
  refusal(): string | undefined {
    const waitMs = this.#notBeforeMs - this.#clock.now()
    if (this.#failures === 0 || waitMs <= 0) return undefined
    const seconds = Math.ceil(waitMs / 1_000)
    return `The speech model failed ${this.#failures} times in a row; retrying in ${seconds} s. ${this.#reason}`
  }
}
