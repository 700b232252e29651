type Listener<T> = (value: T) => void

/** Those who want to hear of events. One that throws is reported once, and takes nothing away from the others. */
export class Listeners<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>()
  readonly #failed = new WeakSet<Listener<never>>()
  readonly #onFailure: (event: keyof Events, error: unknown) => void

  constructor(onFailure: (event: keyof Events, error: unknown) => void) {
    this.#onFailure = onFailure
  }

  /** Returns a function that stops it. */
  on<Event extends keyof Events>(event: Event, listener: Listener<Events[Event]>): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  tell<Event extends keyof Events>(event: Event, value: Events[Event]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        ;(listener as Listener<Events[Event]>)(value)
      } catch (error) {
        this.#report(event, listener, error)
      }
    }
  }

  #report(event: keyof Events, listener: Listener<never>, error: unknown): void {
    if (this.#failed.has(listener)) return
    this.#failed.add(listener)
    this.#onFailure(event, error)
  }
}
