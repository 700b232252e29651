import type { ServerLink } from './server-link.ts'

interface Subscription {
  followers: number
  /** Ends it on the current connection. */
  stop: Promise<() => void>
}

/** The followed resources of one server: each is subscribed to once, however many followers it has. */
export class Subscriptions {
  readonly #byUri = new Map<string, Subscription>()

  /** Resolves to a function that unsubscribes; rejects if the server refuses. */
  async add(uri: string, link: ServerLink): Promise<() => void> {
    const known = this.#byUri.get(uri) ?? { followers: 0, stop: link.follow(uri) }
    this.#byUri.set(uri, known)
    known.followers++
    try {
      await known.stop
    } catch (error) {
      this.#remove(uri, known)
      throw error
    }
    let isOver = false
    return () => {
      if (!isOver) this.#remove(uri, known)
      isOver = true
    }
  }

  /** Subscribes to all of them again, on a new connection. */
  renew(link: ServerLink, onRefused: (error: unknown) => void): void {
    for (const [uri, known] of this.#byUri) {
      known.stop = link.follow(uri)
      known.stop.catch(onRefused)
    }
  }

  #remove(uri: string, known: Subscription): void {
    if (--known.followers > 0) return
    if (this.#byUri.get(uri) === known) this.#byUri.delete(uri)
    known.stop.then(
      stop => stop(),
      () => {},
    )
  }
}
