import { type Clock, systemClock } from '../util/clock.ts'
import { Disconnected } from './http.ts'
import { ABORT_GRACE_MS } from './limits.ts'

/** Tracks running work, so that the gateway can wait for it before closing and abort what does not finish. */
export class ActiveCalls {
  readonly #running = new Set<{ caller: AbortController }>()
  #onIdle = () => {}
  isDraining = false

  /** Runs `work`; `caller` is aborted when the gateway gives up waiting. */
  async run<T>(caller: AbortController, work: () => Promise<T>): Promise<T> {
    const entry = { caller }
    this.#running.add(entry)
    try {
      return await work()
    } finally {
      this.#running.delete(entry)
      if (this.#running.size === 0) this.#onIdle()
    }
  }

  /** Nothing new should start from now on. Resolves when nothing is running; after `limitMs` the rest is aborted. */
  async drain(limitMs: number, clock: Clock = systemClock): Promise<void> {
    this.isDraining = true
    const idle = (withinMs: number) =>
      new Promise<void>(resolve => {
        const timer = clock.setTimer(resolve, withinMs)
        this.#onIdle = () => {
          timer.cancel()
          resolve()
        }
      })
    if (this.#running.size > 0) await idle(limitMs)
    this.abort()
    // Work that ignores that is not waited for.
    if (this.#running.size > 0) await idle(ABORT_GRACE_MS)
  }

  /** Aborts everything that is running. */
  abort(): void {
    for (const { caller } of this.#running) caller.abort(new Disconnected('Toolpost is shutting down'))
  }
}
