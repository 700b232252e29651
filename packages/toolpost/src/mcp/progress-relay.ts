import type { Progress } from '../tools/tool.ts'
import { PROGRESS_BURST, PROGRESS_INTERVAL_MS } from './limits.ts'

/** Passes on the progress of a call: every update at first, then the latest at intervals, and always the last. */
export class ProgressRelay {
  readonly #onProgress: (progress: Progress) => void
  #passedOn = 0
  #latest: Progress | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(onProgress: (progress: Progress) => void) {
    this.#onProgress = onProgress
  }

  readonly report = (progress: Progress): void => {
    if (this.#passedOn++ < PROGRESS_BURST) return this.#onProgress(progress)
    this.#latest = progress
    this.#timer ??= setTimeout(() => this.flush(), PROGRESS_INTERVAL_MS).unref()
  }

  /** Passes on the update being held back. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const latest = this.#latest
    this.#latest = undefined
    if (latest) this.#onProgress(latest)
  }
}
