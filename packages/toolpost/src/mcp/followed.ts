import { UPDATE_PAUSE_MS } from './limits.ts'

/** The followed resources: for each server and URI, the URIs under which its followers know it. */
export class Followed {
  readonly #tell: (uri: string) => void
  readonly #known = new Map<string, Map<string, number>>()
  readonly #changed = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(tell: (uri: string) => void) {
    this.#tell = tell
  }

  /** Returns a function that removes it. */
  add(server: string, key: string, uri: string): () => void {
    const id = idOf(server, key)
    const followers = this.#known.get(id) ?? new Map<string, number>()
    this.#known.set(id, followers.set(uri, (followers.get(uri) ?? 0) + 1))
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = (followers.get(uri) ?? 0) - 1
      if (left > 0) followers.set(uri, left)
      else followers.delete(uri)
      if (followers.size === 0) this.#known.delete(id)
    }
  }

  /** Reports a change; several in quick succession are reported once. */
  changed(server: string, key: string): void {
    for (const uri of this.#known.get(idOf(server, key))?.keys() ?? []) this.#changed.add(uri)
    if (this.#timer || this.#changed.size === 0) return
    this.#timer = setTimeout(() => {
      const changed = [...this.#changed]
      this.#timer = undefined
      this.#changed.clear()
      for (const uri of changed) this.#tell(uri)
    }, UPDATE_PAUSE_MS).unref()
  }
}

function idOf(server: string, key: string): string {
  return JSON.stringify([server, key])
}
