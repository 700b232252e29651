/**
 * Runs somebody else's callback. If it throws or rejects, the error goes to `onError` and nowhere else: it must never
 * reach other calls or the process.
 */
export function quietly(callback: () => unknown, onError: (error: unknown) => void = () => {}): void {
  try {
    const returned = callback()
    if (returned !== undefined) Promise.resolve(returned).then(undefined, onError)
  } catch (error) {
    onError(error)
  }
}

/** What was thrown, as text; works even for values that throw when they are read. */
export function describeThrown(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return 'an unprintable value'
  }
}

type Listener<T> = (value: T) => void

/** Event listeners. One that throws or rejects is reported once and does not affect the others. */
export class Listeners<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<{ listener: Listener<never>; hasFailed: boolean }>>()
  readonly #onFailure: (event: keyof Events, error: unknown) => void

  constructor(onFailure: (event: keyof Events, error: unknown) => void) {
    this.#onFailure = onFailure
  }

  /** Returns a function that removes the listener. */
  on<Event extends keyof Events>(event: Event, listener: Listener<Events[Event]>): () => void {
    const entry = { listener, hasFailed: false }
    const entries = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, entries.add(entry))
    return () => void entries.delete(entry)
  }

  has(event: keyof Events): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0
  }

  tell<Event extends keyof Events>(event: Event, value: Events[Event]): void {
    for (const entry of this.#listeners.get(event) ?? [])
      quietly(
        () => entry.listener(value as never),
        error => {
          if (!entry.hasFailed) this.#onFailure(event, error)
          entry.hasFailed = true
        },
      )
  }
}
