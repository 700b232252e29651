import { quietly } from './quietly.ts'

type Listener<T> = (value: T) => void

/** Event listeners. One that throws or rejects is reported once and does not affect the others. */
export class Listeners<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>()
  readonly #failed = new WeakSet<Listener<never>>()
  readonly #onFailure: (event: keyof Events, error: unknown) => void

  constructor(onFailure: (event: keyof Events, error: unknown) => void) {
    this.#onFailure = onFailure
  }

  /** Returns a function that removes the listener. */
  on<Event extends keyof Events>(event: Event, listener: Listener<Events[Event]>): () => void {
    const own: Listener<Events[Event]> = value => listener(value)
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners.add(own))
    return () => void listeners.delete(own)
  }

  has(event: keyof Events): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0
  }

  tell<Event extends keyof Events>(event: Event, value: Events[Event]): void {
    for (const listener of this.#listeners.get(event) ?? [])
      quietly(
        () => listener(value as never),
        error => {
          if (!this.#failed.has(listener)) this.#onFailure(event, error)
          this.#failed.add(listener)
        },
      )
  }
}
