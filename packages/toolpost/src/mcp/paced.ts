import { LIST_MAX_PAUSE_MS, LIST_PAUSE_MS } from './limits.ts'

/** Notifies immediately, then less and less often while changes keep coming. */
export class Paced {
  readonly #tell: () => void
  #timer: NodeJS.Timeout | undefined
  #isDue = false

  constructor(tell: () => void) {
    this.#tell = tell
  }

  due(): void {
    this.#isDue = true
    if (!this.#timer) this.#next(LIST_PAUSE_MS)
  }

  #next(pauseMs: number): void {
    this.#timer = undefined
    if (!this.#isDue) return
    this.#isDue = false
    this.#timer = setTimeout(() => this.#next(Math.min(2 * pauseMs, LIST_MAX_PAUSE_MS)), pauseMs).unref()
    this.#tell()
  }
}
