interface Closable {
  close(): Promise<void>
}

/** What must be closed with the gateway, including parts added while it is closing. */
export class Closables {
  readonly #parts: Closable[] = []
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  add<T extends Closable>(part: T): T {
    if (this.#isClosed) void part.close().catch(() => {})
    else this.#parts.push(part)
    return part
  }

  /** Closes all of them in parallel. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#parts.splice(0).map(part => part.close()))
  }
}
