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

/** Event listeners. One that throws or rejects is reported once and does not affect the others. */
export class Listeners<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(value: never) => void>>()
  readonly #onFailure: (event: keyof Events, error: unknown) => void

  constructor(onFailure: (event: keyof Events, error: unknown) => void) {
    this.#onFailure = onFailure
  }

  /** Returns a function that removes the listener. */
  on<Event extends keyof Events>(event: Event, listener: (value: Events[Event]) => void): () => void {
    let isReported = false
    const onError = (error: unknown) => {
      if (!isReported) this.#onFailure(event, error)
      isReported = true
    }
    const own = (value: Events[Event]) => quietly(() => listener(value), onError)
    const all = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, all.add(own))
    return () => void all.delete(own)
  }

  tell<Event extends keyof Events>(event: Event, value: Events[Event]): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(value as never)
  }
}
