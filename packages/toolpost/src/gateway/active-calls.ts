import { type Clock, systemClock } from '../runtime/clock.ts'

/** What is under way, so that the gateway can wait for it before it goes, and end what does not end by itself. */
export class ActiveCalls {
  readonly #running = new Set<{ caller: AbortController }>()
  #isDraining = false
  #onIdle: (() => void) | undefined

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Does `work`, whose signal aborts with its caller, or when the gateway does not wait any longer. */
  async run<T>(caller: AbortController, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const entry = { caller }
    this.#running.add(entry)
    try {
      return await work(caller.signal)
    } finally {
      this.#running.delete(entry)
      if (this.#running.size === 0) this.#onIdle?.()
    }
  }

  /** From now on nothing new is to begin. Resolves when nothing is under way; after `limitMs` it is aborted. */
  async drain(limitMs: number, clock: Clock = systemClock): Promise<void> {
    this.#isDraining = true
    if (this.#running.size === 0) return
    const idle = new Promise<void>(resolve => {
      this.#onIdle = resolve
    })
    const timer = clock.setTimer(() => this.abort(), limitMs)
    await idle
    timer.cancel()
  }

  /** Ends everything that is under way. */
  abort(): void {
    for (const { caller } of this.#running) caller.abort(new Error('Toolpost is shutting down'))
  }
}
