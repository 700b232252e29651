import { Store } from './store.ts'

interface Options<T> {
  key: string
  /** What was kept, checked: anybody can write into the storage of a browser. */
  read: (kept: unknown) => T
  /** `localStorage` unless it is for this tab only. */
  storage?: 'local' | 'tab'
}

/** A value that this browser keeps. One that cannot be kept, for lack of room or of permission, still works. */
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

/** Nothing outside of a browser, and in one that forbids it. */
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
