import type { Logger } from '../log.ts'

const WINDOW_MS = 10_000
const MAX_IN_WINDOW = 20

/** Logs what was ignored and why, but not a hundred thousand times. */
export class IgnoredMessages {
  readonly #logger: Logger
  readonly #now: () => number
  #windowAt = Number.NEGATIVE_INFINITY
  #count = 0

  constructor(logger: Logger, now: () => number) {
    this.#logger = logger
    this.#now = now
  }

  add(topic: string, payload: string, reason: string): void {
    if (this.#now() - this.#windowAt >= WINDOW_MS) this.#begin()
    this.#count += 1
    if (this.#count <= MAX_IN_WINDOW) this.#logger.warn({ topic, payload, reason }, 'ignored a message')
  }

  #begin(): void {
    const unsaid = this.#count - MAX_IN_WINDOW
    if (unsaid > 0) this.#logger.warn({ messages: unsaid }, 'ignored more messages')
    this.#windowAt = this.#now()
    this.#count = 0
  }
}
