import { useSyncExternalStore } from 'react'

/** A value that components watch. */
export class Store<T> {
  #value: T
  readonly #listeners = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  readonly get = (): T => this.#value

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  set(value: T): void {
    this.#value = value
    for (const listener of this.#listeners) listener()
  }

  update(change: Partial<T>): void {
    this.set({ ...this.#value, ...change })
  }
}

/** A value from `localStorage`; null outside a browser. */
export function stored(key: string): string | null {
  return typeof localStorage === 'undefined' ? null : localStorage.getItem(key)
}

/** `select` must return the same object as long as nothing changed. */
export function useStore<T, Part>(store: Store<T>, select: (value: T) => Part): Part {
  return useSyncExternalStore(store.subscribe, () => select(store.get()))
}
