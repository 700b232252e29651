import { Store } from './store.ts'

interface Options<T> {
  key: string
  /** Validates what was stored: anything can be in a browser's storage. */
  read: (kept: unknown) => T
}

/** A value persisted in this browser. Without room or permission to store it, it still works. */
export class KeptStore<T> extends Store<T> {
  readonly #key: string
  readonly #storage: Storage | undefined

  constructor({ key, read }: Options<T>) {
    const place = browserStorage()
    super(read(parsed(place?.getItem(key))))
    this.#key = key
    this.#storage = place
  }

  override set(value: T): void {
    super.set(value)
    try {
      this.#storage?.setItem(this.#key, JSON.stringify(value))
    } catch {
      // No room: it lasts as long as the page.
    }
  }
}

/** Undefined outside a browser, and in one that forbids it. */
function browserStorage(): Storage | undefined {
  try {
    return globalThis.localStorage
  } catch {
    return undefined
  }
}

/** The texts in a stored list, up to `most`. */
export function textsIn(kept: unknown, most: number): readonly string[] {
  return Array.isArray(kept) ? kept.filter(one => typeof one === 'string').slice(0, most) : []
}

function parsed(text: string | null | undefined): unknown {
  try {
    return text ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
