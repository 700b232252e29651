import { Store } from './store.ts'

interface Options<T> {
  key: string
  /** Validates what was stored: anything can be in a browser's storage. */
  read: (kept: unknown) => T
  /** `tab` uses `sessionStorage`; default: `localStorage`. */
  storage?: 'local' | 'tab'
}

/** A value persisted in this browser. Without room or permission to store it, it still works. */
export class KeptStore<T> extends Store<T> {
  readonly #key: string
  readonly #storage: Storage | undefined

  constructor({ key, read, storage = 'local' }: Options<T>) {
    const place = storageOf(storage)
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
function storageOf(storage: 'local' | 'tab'): Storage | undefined {
  try {
    return storage === 'tab' ? globalThis.sessionStorage : globalThis.localStorage
  } catch {
    return undefined
  }
}

function parsed(text: string | null | undefined): unknown {
  try {
    return text ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
